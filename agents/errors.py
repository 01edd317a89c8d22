"""Errors of agents and their specs. Every error derives from ``ValueError``."""

from c4env.errors import C4Error
from c4env.errors import UnknownAgent as UnknownAgent


class InvalidSpec(C4Error):
    """The spec does not have the form ``name:key=value,key=value``."""


class UnknownOption(C4Error):
    """The agent does not have the option."""


class InvalidValue(C4Error):
    """The value of an option has the wrong type or is out of range."""


class InvalidHeuristic(C4Error):
    """The heuristic cannot be found, or is not a function float64(int64, int64)."""


class InvalidFunction(C4Error):
    """The policy and value function cannot be found, or returns a malformed result."""


class NoMove(C4Error):
    """A move was requested in a position without a legal column."""


class NoSearch(C4Error):
    """``search`` was called on an agent that does not search."""


class SearchLimit(C4Error):
    """The search reached its node limit before it ended."""


class UnreadableWeights(C4Error):
    """The weights of a network are missing or cannot be read."""


class EngineFault(C4Error):
    """An external program crashed or returned an illegal column.

    The message may quote the program's output, with control characters escaped.
    """

    def __init__(self, message: str) -> None:
        super().__init__(
            "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in message)
        )


class LateAnswer(EngineFault):
    """An external program did not answer in time."""


class Unavailable(C4Error):
    """A service that an agent needs, such as a server, failed; the agent is not at fault.

    The run ends with this error and keeps the finished games. The run can resume later.
    """


class InvalidModel(C4Error):
    """The file holds no trained model, or the model is for another game."""
