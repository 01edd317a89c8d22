"""What can go wrong in naming, building and asking agents; every error is a ``ValueError``."""

from c4env.errors import C4Error


class UnknownAgent(C4Error):
    """A name that no agent has, an import path that leads nowhere, or one whose code raises."""


class InvalidSpec(C4Error):
    """A text that is not ``name:key=value,key=value``."""


class UnknownOption(C4Error):
    """An option that the agent does not have."""


class InvalidValue(C4Error):
    """A value of an option that is of the wrong kind or out of range."""


class InvalidHeuristic(C4Error):
    """A heuristic that cannot be found or has another signature than a heuristic's."""


class InvalidFunction(C4Error):
    """A policy and value function that cannot be found, or an answer of it that is none."""


class NoMove(C4Error):
    """An agent was asked to move in a position without a legal column."""


class NoSearch(C4Error):
    """An agent that does not look ahead was asked what it sees."""


class SearchLimit(C4Error):
    """A search reached the number of nodes it was allowed before it was done."""


class UnreadableWeights(C4Error):
    """A network's weights that are missing or cannot be read."""


class EngineFault(C4Error):
    """Another program that plays crashed, or answered something that is no legal column.

    What it said may stand in the message: characters that do more than show are escaped.
    """

    def __init__(self, message: str) -> None:
        super().__init__(
            "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in message)
        )


class LateAnswer(EngineFault):
    """Another program that plays did not answer in time."""


class Unavailable(C4Error):
    """What an agent depends on cannot be had, which is no fault of its own: no move is judged.

    A run ends with it and keeps the games before, so that it can go on later.
    """


class InvalidModel(C4Error):
    """A file that is no trained model, or a model for something else than this game."""
