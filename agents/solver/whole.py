"""Every position of a small board, with the exact score of each column: for who learns on it.

No search is needed: the last positions are known, and each ply follows from the next one.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from agents.solver.book.enumeration import boards_of, one_disc_on, score_columns
from agents.solver.search.table import NO_SCORE
from c4env.arrays import Int8s, Int64s
from c4env.bitboard import BOTTOM, CELLS, COLUMNS, mirror, win_score
from c4env.errors import InvalidOption
from c4env.geometry import BOARD_SIZE
from c4env.jit import kernel

MOST: Final = 20_000_000
"""Positions, mirror images apart, that are kept in memory."""

ROW: Final = np.dtype(
    [("mine", np.int64), ("theirs", np.int64), ("score", np.int8), ("columns", np.int8, (COLUMNS,))]
)
"""A position: bitboards of the side to move and of the other (``c4env.bitboard``), its score for
the side to move (:class:`agents.solver.Solver`), and that of each column, ``NO_SCORE`` where it
is full or the game is over."""


@kernel("int64(int64[::1], int8[::1], int8[:, ::1], int64[:, ::1], int8[:, ::1])")
def with_mirrors(keys: Int64s, scores: Int8s, columns: Int8s, boards: Int64s, values: Int8s) -> int:
    """Write positions and their mirror images; returns how many they are.

    Args:
        keys: [N].
        scores: [N].
        columns: [N, 7] scores of their columns.
        boards: [2 N, 2] bitboards, written to.
        values: [2 N, 8] scores, and those of the columns, written to.
    """
    count = 0
    for i in range(len(keys)):
        mine, theirs = boards_of(int(keys[i]))
        for turned in range(2):
            if turned and mirror(mine) == mine and mirror(theirs) == theirs:
                break
            boards[count, 0] = mirror(mine) if turned else mine
            boards[count, 1] = mirror(theirs) if turned else theirs
            values[count, 0] = scores[i]
            for column in range(COLUMNS):
                values[count, 1 + column] = columns[i, COLUMNS - 1 - column if turned else column]
            count += 1
    return count


def whole_board() -> NDArray[np.void]:
    """[N] rows of the type ``ROW``, one for each position that games reach, by number of discs.

    Raises:
        InvalidOption: the board has too many.
    """
    going = [np.array([BOTTOM], np.int64)]  # keys by ply, of positions that are not won
    won = [np.empty(0, np.int64)]
    for _ in range(CELLS):
        won.append(one_disc_on(going[-1], True))
        going.append(one_disc_on(going[-1], False))
        if sum(map(len, going)) > MOST:
            raise InvalidOption(f"board {BOARD_SIZE}: expected one of at most {MOST:,} positions")
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
    boards = np.empty((2 * len(keys), 2), np.int64)
    values = np.empty((2 * len(keys), 1 + COLUMNS), np.int8)
    count = with_mirrors(keys, scores, columns, boards, values)
    rows = np.empty(count, ROW)
    rows["mine"], rows["theirs"] = boards[:count].T
    rows["score"], rows["columns"] = values[:count, 0], values[:count, 1:]
    return rows
