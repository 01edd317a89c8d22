"""What can go wrong with runs and their records; every error is a ``ValueError``."""

from c4env.errors import C4Error


class InvalidRun(C4Error):
    """A run that cannot be played as asked: too few agents, an agent twice, a bad number."""


class UnreadableRun(C4Error):
    """A run directory or record that is not one, is damaged, or belongs to another run."""


class UnwritableRun(C4Error):
    """A run directory that takes no more games, as when the disk is full."""


class InvalidRequest(C4Error):
    """Something asked of the web server that it does not answer."""


class PortTaken(C4Error):
    """The address to serve at is in use, or is not this machine's."""
