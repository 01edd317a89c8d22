"""Exact play by the solver, and opponents of graded strength: exact play that errs."""

from __future__ import annotations

__any_board__ = True

from typing import Literal

import numpy as np

from c4env.agents.base import SearchingAgent, SearchResult, require_move
from c4env.agents.registry.options import Megabytes, Share, checked
from c4env.agents.solver import Solver
from c4env.bitboard import CELLS
from c4env.position import Position


class Perfect(SearchingAgent):
    """Plays a column of the best exact score: a quickest win, a draw, or a slowest loss.

    Args:
        blunder: share of moves that are not a best one. It is the chance, at each move where
            some column is worse than the best, of playing one of those instead, each as likely;
            seeded by :meth:`reset`.
        ties: among best columns: center (first) or random.
        table_mb: memory of the solver's table.
    """

    settings_are_all = True
    memory = ("_generator",)

    @checked
    def __init__(
        self,
        blunder: Share = 0.0,
        ties: Literal["center", "random"] = "center",
        table_mb: Megabytes = 64,
    ) -> None:
        self.blunder = blunder
        self.ties = ties
        self.deterministic = blunder == 0 and ties == "center"
        self.solver = Solver(table_mb=table_mb)
        self._generator = np.random.default_rng()

    def reset(self, seed: int | np.random.SeedSequence | None = None) -> None:
        """Begin a new game; the same seed errs at the same moves.

        What earlier games left in the solver's table is forgotten: how many positions are
        searched does not depend on which games this agent played before.
        """
        self.solver.clear()
        self._generator = np.random.default_rng(seed)

    def reseed(self, seed: int) -> None:
        """Err by this seed; what the solver's table holds is true of every game."""
        self._generator = np.random.default_rng(seed)

    def best_move(self, position: Position) -> tuple[int, float, int]:
        """Column, the exact score it keeps, positions searched."""
        require_move(position)
        best = self.solver.best_columns(position)
        nodes = self.solver.nodes
        worse = [c for c in position.legal_columns() if c not in best]
        # A number is drawn at every move, so that one game's errors do not shift another's.
        if self.blunder and self._generator.random() < self.blunder and worse:
            column = worse[int(self._generator.integers(len(worse)))]
            value = -self.solver.score(position.play(column))
        else:
            drawn = 0 if self.ties == "center" else int(self._generator.integers(len(best)))
            column = best[drawn]
            value = self.solver.score(position)
        return column, float(value), nodes + self.solver.nodes

    def search(self, position: Position) -> SearchResult:
        """The chosen column, the exact score it keeps, and best play from there to the end."""
        column, value, nodes = self.best_move(position)
        line = self.solver.principal_variation(position.play(column))
        return SearchResult(column, value, nodes, CELLS - position.plies, (column, *line))
