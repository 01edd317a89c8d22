"""All positions of a small board with exact scores, as a reference for learning agents.

The scores need no search: full boards have known scores, and the scores of each ply follow from the
scores of the next ply.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from c4env.arrays import Int8s, Int64s
from c4env.errors import InvalidOption

from ...bitboard import BOTTOM, CELLS, COLUMNS, mirror_all, win_score
from ...geometry import BOARD_SIZE
from .book.enumeration import bitboards, one_disc_on, score_columns
from .kernels.table import NO_SCORE

MOST: Final = 20_000_000
"""The greatest number of positions to keep in memory, without mirror images."""

ROW: Final = np.dtype(
    [("mine", np.int64), ("theirs", np.int64), ("score", np.int8), ("columns", np.int8, (COLUMNS,))]
)
"""A position: bitboards of the side to move and of the other side (``c4env.bitboard``), the score
for the side to move (:class:`c4env.agents.solver.Solver`), and the score of each column;
``NO_SCORE`` if the column is full or the game is over."""


def whole_board() -> NDArray[np.void]:
    """Return all reachable positions as ``[N]`` rows of type ``ROW``, sorted by number of discs.

    Raises:
        InvalidOption: the board has too many positions.
    """
    going = [np.array([BOTTOM], np.int64)]  # keys of positions that are not won, by ply
    won = [np.empty(0, np.int64)]
    for _ in range(CELLS):
        won.append(one_disc_on(going[-1], True))
        going.append(one_disc_on(going[-1], False))
        if sum(map(len, going)) > MOST:
            raise InvalidOption(f"board {BOARD_SIZE}: expected at most {MOST:,} positions")
    parts = []
    scores = np.zeros(len(going[CELLS]), np.int8)  # full boards
    for plies in range(CELLS, -1, -1):
        columns = np.full((len(going[plies]), COLUMNS), NO_SCORE, np.int8)
        if plies < CELLS:
            columns = score_columns(going[plies], plies, going[plies + 1], scores)
            scores = columns.max(axis=1)
        lost = np.full(len(won[plies]), -win_score(plies), np.int8)
        nothing = np.full((len(lost), COLUMNS), NO_SCORE, np.int8)
        parts += [_rows(won[plies], lost, nothing), _rows(going[plies], scores, columns)]
    return np.concatenate(parts[::-1])


def _rows(keys: Int64s, scores: Int8s, columns: Int8s) -> NDArray[np.void]:
    """Make rows of positions; a position that is not symmetric is followed by its mirror image."""
    rows = np.empty((len(keys), 2), ROW)
    rows["score"] = scores[:, None]
    rows["columns"] = np.stack([columns, columns[:, ::-1]], axis=1)
    for side, boards in zip(("mine", "theirs"), bitboards(keys), strict=True):
        rows[side] = np.stack([boards, mirror_all(boards)], axis=1)
    kept = np.ones(rows.shape, np.bool_)
    kept[:, 1] = mirror_all(keys) != keys
    return rows[kept]
