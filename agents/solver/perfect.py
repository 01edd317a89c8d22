"""An agent that plays perfectly by the solver, with random errors if asked for."""

from __future__ import annotations

from typing import Literal

import numpy as np

from c4env.agents.base import LineSearch
from c4env.agents.making.options import Megabytes, Share, validate_args
from c4env.agents.solver import Solver
from c4env.position import Position
from c4env.rules import CELLS


class Perfect(LineSearch):
    """Plays a column with the best exact score: a quickest win, a draw, or a slowest loss.

    Args:
        blunder: probability of a worse move. Where some columns are worse than the best, the agent
            plays a random worse column with this probability; :meth:`reset` seeds the draws.
        ties: choice among best columns: center (the nearest to the centre) or random.
        table_mb: memory of the solver's table.
    """

    @property
    def _repeats(self) -> bool:
        """Whether the same position always gets the same column."""
        return self.blunder == 0 and self.ties == "center"

    @validate_args
    def __init__(
        self,
        blunder: Share = 0.0,
        ties: Literal["center", "random"] = "center",
        table_mb: Megabytes = 64,
    ) -> None:
        self.blunder = blunder
        self.ties = ties
        self.solver = Solver(table_mb=table_mb)
        self._generator = np.random.default_rng()

    def reset(self, seed: int | np.random.SeedSequence | None = None) -> None:
        """Begin a new game; the same seed and the same positions give the same columns."""
        self.solver.clear()  # so that the number of nodes does not depend on earlier games
        self._generator = np.random.default_rng(seed)

    def close(self) -> None:
        """Give the memory of the solver's table back, until the next search."""
        self.solver.close()

    def reseed(self, seed: int) -> None:
        """Set the seed of errors; keep the solver's table."""
        self._generator = np.random.default_rng(seed)

    def _best(self, position: Position) -> tuple[int, float, int, int]:
        best = self.solver.best_columns(position)
        nodes = self.solver.nodes
        worse = [c for c in position.legal_columns() if c not in best]
        if self.blunder and self._generator.random() < self.blunder and worse:
            column = worse[int(self._generator.integers(len(worse)))]
            value = -self.solver.score(position.play(column))
        else:
            drawn = 0 if self.ties == "center" else int(self._generator.integers(len(best)))
            column = best[drawn]
            value = self.solver.score(position)
        return column, float(value), nodes + self.solver.nodes, CELLS - position.plies

    def _reply(self, after: Position, ply: int) -> int:
        return self.solver.best_columns(after)[0]
