"""The input features of the network: zeros and ones, computed with NumPy alone.

Everything is seen by the side to move. Of each cell: whether it holds an own disc, holds the
other's, is where a disc dropped now would land, would complete four of one's own, would complete
four of the other's. Of each of the 69 lines of four cells: whether only one side has discs on
it, which, and how many.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from c4env.arrays import Int8s, Int64s
from c4env.bitboard import CELLS, COLUMNS, CONNECT, FROM_TOP, ROWS

Planes = NDArray[Any]  # [N, 6, 7, 2], zeros and ones; see c4env.observation


def _lines() -> NDArray[np.float32]:
    """The cells of each line of four, [42, 69]: 1 where the cell is on the line."""
    found = []
    for down, right in ((0, 1), (1, 0), (1, 1), (-1, 1)):
        for row in range(ROWS):
            for column in range(COLUMNS):
                rows = [row + k * down for k in range(CONNECT)]
                columns = [column + k * right for k in range(CONNECT)]
                if 0 <= rows[-1] < ROWS and columns[-1] < COLUMNS:
                    line = np.zeros((ROWS, COLUMNS), np.float32)
                    line[rows, columns] = 1
                    found.append(line.ravel())
    return np.stack(found, axis=1)


LINES: Final = _lines()
FEATURES: Final = 5 * CELLS + 6 * LINES.shape[1]

_BITS: Final = np.array(FROM_TOP)  # the order of the planes


def planes_from(mine: Int64s, theirs: Int64s) -> Int8s:
    """Planes int8 ``[N, 6, 7, 2]`` of bitboards ``[N]``."""
    both = np.stack([mine, theirs], axis=1)[:, None, :] >> _BITS[None, :, None] & 1
    planes: Int8s = both.astype(np.int8).reshape(-1, ROWS, COLUMNS, 2)
    return planes


def bitboards_from(planes: Planes) -> tuple[Int64s, Int64s]:
    """Bitboards ``[N]`` of the sides to move and of the others; inverts :func:`planes_from`."""
    cells = planes.reshape(-1, CELLS, 2).astype(np.int64) << _BITS[None, :, None]
    both = cells.sum(axis=1)
    return both[:, 0], both[:, 1]


def player_to_move(planes: Planes) -> Int64s:
    """0 or 1, ``[N]``."""
    discs: Int64s = np.count_nonzero(planes.reshape(-1, 2 * CELLS), axis=1)
    return discs & 1


def urgent_columns(planes: Planes) -> tuple[NDArray[Any], NDArray[Any]]:
    """Columns bool ``[N, 7]`` that win at once, and those where the other side would."""
    told = describe(planes)
    cells = told[:, : 5 * CELLS].reshape(-1, 5, ROWS, COLUMNS) > 0
    landing, wins, losses = cells[:, 2], cells[:, 3], cells[:, 4]
    return np.any(landing & wins, axis=1), np.any(landing & losses, axis=1)


def describe(planes: Planes) -> NDArray[np.float32]:
    """The features of N positions, float32 ``[N, 624]`` of zeros and ones."""
    cells = planes.reshape(-1, CELLS, 2).astype(np.float32)
    mine, theirs = cells[:, :, 0], cells[:, :, 1]
    empty = 1 - mine - theirs
    landing = empty.copy()  # empty, and the cell below is not
    landing[:, :-COLUMNS] -= empty[:, COLUMNS:] * empty[:, :-COLUMNS]
    # The discs on a line as one number, a different one for each pair of counts.
    lines = (mine + 5 * theirs) @ LINES
    counted = [lines == count for count in (1, 2, 3, 5, 10, 15)]
    wins = (counted[2].astype(np.float32) @ LINES.T > 0) * empty
    losses = (counted[5].astype(np.float32) @ LINES.T > 0) * empty
    return np.concatenate([mine, theirs, landing, wins, losses, *counted], axis=1, dtype=np.float32)
