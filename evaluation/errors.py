"""What can go wrong with runs and their records; every error is a ``ValueError``."""

from c4env.errors import C4Error


class InvalidRun(C4Error):
    """A run that cannot be played as asked: too few agents, an agent twice, a bad number."""


class WorkerDied(C4Error):
    """A worker process ended in the middle of a game, as when it ran out of memory."""


class UnreadableRun(C4Error):
    """A run directory or record that is not one, is damaged, or belongs to another run."""
