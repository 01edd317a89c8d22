"""Exact play: search, transposition table, opening book.

Names are imported when first used, so that importing the package compiles nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agents.solver.book import Book, BookUnavailable
    from agents.solver.driver import NO_SCORE
    from agents.solver.solver import Solver

_HOME = {
    "NO_SCORE": "agents.solver.driver",
    "Book": "agents.solver.book",
    "BookUnavailable": "agents.solver.book",
    "Solver": "agents.solver.solver",
}

__all__ = ["NO_SCORE", "Book", "BookUnavailable", "Solver"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
