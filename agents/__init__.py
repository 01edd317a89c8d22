"""The agents: programs that play Connect Four through one policy interface.

``names()`` lists the names that ``make()`` accepts; ``register()`` adds a user's agent. Importing
the package imports no agent: the first ``make()`` of an agent imports its module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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
from c4env.lazy import lazy_names

from .base import Agent, SearchingAgent, SearchResult
from .registry.options import checked
from .registry.registry import describe, make, names, register

if TYPE_CHECKING:
    from .graded.curriculum import Curriculum
    from .pool import Pool
    from .solver import Solver

_NAMES = {
    ".graded.curriculum": "Curriculum",
    ".pool": "Pool",
    ".solver": "Solver",
}

__all__ = [
    "Agent", "Between", "Curriculum", "EngineFault", "Entry", "InvalidFunction", "InvalidHeuristic",
    "InvalidModel", "InvalidSpec", "InvalidValue", "LateAnswer", "NoMove", "NoSearch", "Pool",
    "SearchLimit", "SearchResult", "SearchingAgent", "Solver", "Unavailable", "UnknownAgent",
    "UnknownOption", "UnreadableWeights", "checked", "describe", "make", "names", "register",
]  # fmt: skip

__getattr__, __dir__ = lazy_names(__name__, _NAMES)
