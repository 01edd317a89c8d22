"""Exact play by a search with a transposition table and an opening book.

Names are imported on first use, so that importing the package compiles nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from c4env.lazy import lazy_names

if TYPE_CHECKING:
    from c4env.agents.solver.book import Book
    from c4env.agents.solver.solver import Solver
    from c4env.agents.solver.table import NO_SCORE

_NAMES = {
    "c4env.agents.solver.book": "Book",
    "c4env.agents.solver.table": "NO_SCORE",
    "c4env.agents.solver.solver": "Solver",
}

__all__ = ["NO_SCORE", "Book", "Solver"]

__getattr__, __dir__ = lazy_names(__name__, _NAMES)
