"""Q-learning in a table on 4x4, with its error against the exact value of every position.

``python -m c4env.agents.training.examples.q_table error.png`` draws the error over training
(``c4env[plots]``).

The learner plays both sides of many boards at once. Its table has a row for each position of the
board and a value for each column, the result that the side to move expects, from -1 to 1.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np

import c4env
from c4env.agents.training.command_line import PICTURES, needs, run
from c4env.arrays import Float64s, Int64s
from c4env.boards import Size

with needs("plots", __name__):
    from matplotlib.figure import Figure

BOARD: Final = Size(rows=4, columns=4, connect=4)
LOOKS: Final = 40  # times that a training measures the error


def train(
    out: str | Path,
    steps: int = 20_000,
    seed: int = 1,
    *,
    boards: int = 256,
    rate: float = 0.8,
) -> float:
    """Learn for ``steps`` plies on each board, draw the errors, and return the last one.

    Half of the boards play any legal column, the others mostly the best known column.
    """
    truth = Truth()
    table = np.zeros(truth.values.shape)
    chance = np.random.default_rng(seed)
    envs = c4env.board(*BOARD).ConnectFourVectorEnv(boards, autoreset_mode="SameStep")
    seen, _ = envs.reset(seed=seed)
    now, legal = truth.rows_of(seen["observation"]), seen["action_mask"] == 1
    exploring = np.linspace(0.1, 1.9, boards).clip(max=1.0)  # how often a board tries any column
    errors = []
    for step in range(steps):
        if step % max(1, steps // LOOKS) == 0:
            errors.append((step * boards, *truth.errors(table)))
        weight = np.where(chance.random(boards) < exploring, 0.0, 10.0)[:, None]
        ranks = weight * table[now] + chance.random(legal.shape)
        chosen = np.where(legal, ranks, -np.inf).argmax(axis=1)
        seen, rewards, ended, _, _ = envs.step(chosen)
        then, legal = truth.rows_of(seen["observation"]), seen["action_mask"] == 1
        # The value for the side that moved is the negative of the other side's best value.
        best = np.where(legal, table[then], -np.inf).max(axis=1)
        target = np.where(ended, rewards, -best)
        table[now, chosen] += rate * (target - table[now, chosen])
        now = then
    errors.append((steps * boards, *truth.errors(table)))
    draw(out, np.array(errors))
    return errors[-1][1]


class Truth:
    """The exact values of all unfinished positions of the board.

    Attributes:
        values: [P, columns] 1, 0 or -1, each column's result for the side to move; nan where full.
    """

    def __init__(self) -> None:
        ours = c4env.board(*BOARD).__name__
        whole: Any = importlib.import_module(f"{ours}.agents.solver.whole")
        cells: Any = importlib.import_module(f"{ours}.bitboard")
        rows = whole.whole_board()
        rows = rows[(rows["columns"] != whole.NO_SCORE).any(axis=1)]
        keys = rows["mine"] << cells.BITS | rows["theirs"]
        order = np.argsort(keys)
        self._keys: Int64s = keys[order]
        self._bits = cells.BITS
        self._weights = 1 << np.array(cells.FROM_TOP)  # of the cells, row by row from the top
        scores = rows["columns"][order]
        self.values: Float64s = np.where(scores == whole.NO_SCORE, np.nan, np.sign(scores))

    def rows_of(self, planes: Any) -> Int64s:
        """The rows ``[N]`` of N observations ``[N, 4, 4, 2]``, each of its side to move."""
        mine, theirs = (planes[..., k].reshape(len(planes), -1) @ self._weights for k in (0, 1))
        return np.asarray(np.searchsorted(self._keys, mine << self._bits | theirs))

    def errors(self, table: Float64s) -> tuple[float, float]:
        """The share of positions whose best known column is a mistake, and the mean value error."""
        best = np.where(np.isnan(self.values), -np.inf, table).argmax(axis=1)
        lost = np.nanmax(self.values, axis=1) - self.values[np.arange(len(best)), best]
        return float((lost > 0).mean()), float(np.nanmean(np.abs(table - self.values)))


def draw(out: str | Path, errors: Float64s) -> None:
    """Write the picture of both errors over the plies learned from."""
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    axes.plot(errors[:, 0], errors[:, 1], label="positions in which a wrong column is played")
    axes.plot(errors[:, 0], errors[:, 2], label="mean error of the value of a column")
    axes.set(xlabel="plies learned from", ylim=(0, None), title="Q-learning on 4x4, all positions")
    axes.legend()
    figure.savefig(out)


if __name__ == "__main__":
    said = "share of positions in which a wrong column is played"
    sys.exit(run(train, __doc__, said, endings=PICTURES))
