"""Who is stronger, and by how much: tournaments over enumerated openings, and win tables."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import agents

if getattr(agents, "ZOO", None) != "c4env":
    raise ImportError(
        f"the package `agents` found at {getattr(agents, '__file__', 'an unknown place')} is not "
        "c4env's: another distribution installs a package of that name; uninstall it, or use "
        "an environment of its own for c4env"
    )

if TYPE_CHECKING:
    from evaluation.games.tournament import Tournament, gauntlet, round_robin

_HOME = {
    "Tournament": "evaluation.games.tournament",
    "gauntlet": "evaluation.games.tournament",
    "round_robin": "evaluation.games.tournament",
}

__all__ = ["Tournament", "gauntlet", "round_robin"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value
