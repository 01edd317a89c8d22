"""Exact play: search, transposition table, opening book.

Names are imported when first used, so that importing the package compiles nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from c4env.lazy import lazy_names

if TYPE_CHECKING:
    from agents.solver.book import Book, BookUnavailable
    from agents.solver.search.table import NO_SCORE
    from agents.solver.solver import Solver

_NAMES = {
    "agents.solver.book": "Book BookUnavailable",
    "agents.solver.search.table": "NO_SCORE",
    "agents.solver.solver": "Solver",
}

__all__ = ["NO_SCORE", "Book", "BookUnavailable", "Solver"]

__getattr__, __dir__ = lazy_names(__name__, _NAMES)
