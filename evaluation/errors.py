"""Errors of runs and their records; each is a ``ValueError``."""

from c4env.errors import C4Error


class InvalidRun(C4Error):
    """The settings of a run are wrong, such as too few agents or a repeated agent."""


class UnreadableRun(C4Error):
    """A file or folder is damaged, is not a run or record, or belongs to another run."""


class UnwritableRun(C4Error):
    """A run directory cannot be written, for example because the disk is full."""


class InvalidRequest(C4Error):
    """The web server refuses a request."""


class PortTaken(C4Error):
    """The server's address is in use or does not belong to this machine."""
