"""Errors of naming, building and playing agents; every one is a ``ValueError``."""

from c4env.errors import C4Error
from c4env.errors import UnknownAgent as UnknownAgent


class InvalidSpec(C4Error):
    """A text without the form ``name:key=value,key=value``."""


class UnknownOption(C4Error):
    """An option that the agent does not have."""


class InvalidValue(C4Error):
    """An option's value of the wrong type or out of range."""


class InvalidHeuristic(C4Error):
    """A heuristic that cannot be found, or that is not float64(int64, int64)."""


class InvalidFunction(C4Error):
    """A policy and value function that cannot be found, or whose result has the wrong form."""


class NoMove(C4Error):
    """A move was requested in a position without a legal column."""


class NoSearch(C4Error):
    """``search`` was called on an agent that does not search."""


class SearchLimit(C4Error):
    """A search reached its node limit before it ended."""


class UnreadableWeights(C4Error):
    """The weights of a network are missing or cannot be read."""


class EngineFault(C4Error):
    """An external program crashed, or its answer is no legal column.

    The message may quote the program; control characters in it are escaped.
    """

    def __init__(self, message: str) -> None:
        super().__init__(
            "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in message)
        )


class LateAnswer(EngineFault):
    """An external program did not answer in time."""


class Unavailable(C4Error):
    """A service that an agent needs, such as a server, fails; the agent is not at fault.

    A run ends with this error and keeps the finished games, so that it can resume later.
    """


class InvalidModel(C4Error):
    """A file that holds no trained model, or a model of another game."""
