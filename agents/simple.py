"""Agents without a search: random, and greedy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from agents.base import Agent, require_move
from agents.zoo.table import DEFAULT_HEURISTIC

if TYPE_CHECKING:
    from agents.search.heuristics import Heuristic
    from c4env.position import Position


class Random(Agent):
    """Plays a legal column drawn uniformly; seeded by :meth:`reset`."""

    def __init__(self) -> None:
        self._generator = np.random.default_rng()

    def reset(self, seed: int | np.random.SeedSequence | None = None) -> None:
        """Begin a new game; the same seed draws the same columns."""
        self._generator = np.random.default_rng(seed)

    def choose(self, position: Position) -> int:
        """A legal column, each as likely."""
        require_move(position)
        columns = position.legal_columns()
        return columns[int(self._generator.integers(len(columns)))]


class Greedy(Agent):
    """Wins if it can, blocks if it must, else takes the best next board of a heuristic.

    Of equally good columns, the one nearest the centre (the left one of two).

    Args:
        heuristic: name or import path of the heuristic (``agents.search.heuristics``).
    """

    def __init__(self, heuristic: str | Heuristic = DEFAULT_HEURISTIC) -> None:
        from agents.search.heuristics import load, repeats

        self._heuristic_name = heuristic
        self._heuristic = load(heuristic)
        self.deterministic = repeats(self._heuristic)

    def choose(self, position: Position) -> int:
        """The 0-based column to play."""
        from agents.search.heuristics import require_finite
        from c4env.bitboard import CENTRE_FIRST, drop, winning_moves

        require_move(position)
        mine, theirs = position.mine, position.theirs
        occupied = mine | theirs
        columns = [column for column in CENTRE_FIRST if drop(occupied, column)]
        urgent = winning_moves(mine, theirs) or winning_moves(theirs, mine)
        for column in columns:
            if urgent & drop(occupied, column):
                return column
        boards = ((mine | drop(occupied, column), theirs) for column in columns)
        values = [require_finite(self._heuristic(*b), self._heuristic_name) for b in boards]
        return columns[values.index(max(values))]
