"""What can go wrong with runs and their records; every error is a ``ValueError``."""

from c4env.errors import C4Error


class InvalidRun(C4Error):
    """A run that cannot be played as asked: too few agents, an agent twice, a bad number."""


class WorkerDied(C4Error):
    """A worker process ended in the middle of a game, as when it ran out of memory."""


class UnreadableRun(C4Error):
    """A run directory or record that is not one, is damaged, or belongs to another run."""


class RunInUse(UnreadableRun):
    """A run directory that another process is writing to."""


class InvalidRequest(C4Error):
    """Something asked of the web server that it does not answer."""


class MissingServer(C4Error, ImportError):
    """The libraries of the web server are not installed."""


class PortTaken(C4Error):
    """The address to serve at is in use, or is not this machine's."""
