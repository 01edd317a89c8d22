"""The agents: programs that play Connect Four through one policy interface.

``names()`` lists the names that ``make()`` accepts; ``register()`` adds a user's agent. Importing
the package imports no agent: the first ``make()`` of an agent imports its module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from c4env.agents.base import Agent, SearchingAgent, SearchResult
from c4env.agents.errors import (
    EngineFault,
    InvalidFunction,
    InvalidHeuristic,
    InvalidModel,
    InvalidSpec,
    InvalidValue,
    LateAnswer,
    NoMove,
    NoSearch,
    SearchLimit,
    Unavailable,
    UnknownAgent,
    UnknownOption,
    UnreadableWeights,
)
from c4env.agents.registry.entries import Between, Entry
from c4env.agents.registry.options import checked
from c4env.agents.registry.registry import describe, make, names, register
from c4env.lazy import lazy_names

if TYPE_CHECKING:
    from c4env.agents.graded.curriculum import Curriculum
    from c4env.agents.pool import Pool
    from c4env.agents.solver import Solver

_NAMES = {
    "c4env.agents.graded.curriculum": "Curriculum",
    "c4env.agents.pool": "Pool",
    "c4env.agents.solver": "Solver",
}

__all__ = [
    "Agent", "Between", "Curriculum", "EngineFault", "Entry", "InvalidFunction", "InvalidHeuristic",
    "InvalidModel", "InvalidSpec", "InvalidValue", "LateAnswer", "NoMove", "NoSearch", "Pool",
    "SearchLimit", "SearchResult", "SearchingAgent", "Solver", "Unavailable", "UnknownAgent",
    "UnknownOption", "UnreadableWeights", "checked", "describe", "make", "names", "register",
]  # fmt: skip

__getattr__, __dir__ = lazy_names(__name__, _NAMES)
