"""Agents that do not search: random and greedy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from c4env.agents.base import Agent, is_ours, require_move
from c4env.agents.making.options import DEFAULT_HEURISTIC, HeuristicName, validate_args

if TYPE_CHECKING:
    from collections.abc import Callable

    from c4env.arrays import Int64s
    from c4env.position import Position


class Random(Agent):
    """Plays a legal column, drawn uniformly."""

    def __init__(self) -> None:
        self._generator = np.random.default_rng()

    def reset(self, seed: int | np.random.SeedSequence | None = None) -> None:
        """Begin a new game; the same seed draws the same columns."""
        self._generator = np.random.default_rng(seed)

    def choose(self, position: Position) -> int:
        """Draw a legal column with equal probabilities."""
        require_move(position)
        columns = position.legal_columns()
        return columns[int(self._generator.integers(len(columns)))]

    def choose_many(self, discs: Int64s, seeds: Int64s) -> Int64s:
        """Draw a legal column on each board with the board's seed."""
        from c4env.envs.kernels import random_columns

        return random_columns(discs, seeds) if is_ours(self) else super().choose_many(discs, seeds)


class Greedy(Agent):
    """Plays a win, else a block, else the column with the best heuristic value.

    Ties go to the column nearest the centre, then to the column on the left.
    """

    @validate_args
    def __init__(self, heuristic: HeuristicName = DEFAULT_HEURISTIC) -> None:
        from c4env.agents.heuristics.heuristic import Heuristic

        self._heuristic = Heuristic.of(heuristic)

    @property
    def _repeats(self) -> bool:
        """Whether the same position always gets the same column."""
        return self._heuristic.deterministic

    @property
    def heuristic(self) -> Callable[[int, int], float]:
        """The heuristic that the agent was made with."""
        return self._heuristic.function

    def choose(self, position: Position) -> int:
        """Choose the 0-based column to play."""
        from c4env.agents.search.greedy import greedy_column

        require_move(position)
        # On one board the kernel's Python source is faster than the kernel: unboxing a function
        # argument takes Numba longer than seven calls of the function.
        ask = getattr(greedy_column, "py_func", greedy_column)
        try:
            column = int(ask(position.mine, position.theirs, self._heuristic.function))
        except Exception as error:
            raise self._heuristic.error(error) from error
        if column < 0:
            raise self._heuristic.error()
        return column

    def choose_many(self, discs: Int64s, seeds: Int64s) -> Int64s:
        """Choose a column on each board, in one kernel unless the heuristic is plain Python."""
        from c4env.agents.heuristics.heuristic import PlainHeuristic
        from c4env.agents.search.greedy import greedy_columns

        if not is_ours(self) or isinstance(self._heuristic.argument, PlainHeuristic):
            return super().choose_many(discs, seeds)
        columns = greedy_columns(discs, self._heuristic.argument)
        # The default method raises the error with the reason when it plays the failing board.
        return super().choose_many(discs, seeds) if (columns < 0).any() else columns
