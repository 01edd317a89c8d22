"""The agents: programs that play Connect Four through one policy interface.

``names()`` lists the names that ``make()`` accepts; ``register()`` adds a user's agent. Importing
the package imports no agent: the first ``make()`` of an agent imports its module.

Example:
    >>> agents.make("alphabeta:depth=4").choose(Position.parse("4455"))
    2
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if __name__ == "agents":  # Python was started in the clone, or has it on its path
    raise ImportError(
        "agents is imported as c4env.agents (your own folder agents needs "
        "an __init__.py, or c4env installed without -e)"
    )

from c4env.agents.base import Agent, BatchAgent, Games, SearchingAgent, SearchResult
from c4env.agents.making.options import Range, Reads, Writes, validate_args
from c4env.agents.making.registry import Entry, names, register
from c4env.agents.making.spec import describe, make
from c4env.errors import (
    EngineFault,
    IllegalMove,
    InvalidOption,
    LateAnswer,
    SearchLimit,
    Unavailable,
    UnknownAgent,
)
from c4env.lazy import lazy_names

if TYPE_CHECKING:
    from c4env.agents import rewards
    from c4env.agents.pool import Pool
    from c4env.agents.solver import Solver

_NAMES = {
    "c4env.agents.pool": "Pool",
    "c4env.agents.solver": "Solver",
}

__all__ = [
    "Agent", "BatchAgent", "EngineFault", "Entry", "Games", "IllegalMove", "InvalidOption",
    "LateAnswer", "Pool", "Range", "Reads", "SearchLimit", "SearchResult", "SearchingAgent",
    "Solver", "Unavailable", "UnknownAgent", "Writes", "describe", "make", "names",
    "register", "rewards", "validate_args",
]  # fmt: skip

__getattr__, __dir__ = lazy_names(__name__, _NAMES, "rewards")
