"""The input of the shipped network: five bit planes for the side to move."""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import types
from numpy.typing import NDArray

from c4env.arrays import Int64s
from c4env.bitboard import COLUMNS, FROM_TOP, ROWS, playable, winning_cells
from c4env.jit import kernel

PLANES: Final = 5

Bytes = NDArray[np.uint8]


@kernel(types.void(types.int64[::1], types.int64[::1], types.uint8[:, :, :, ::1]))
def write_planes(mine: Int64s, theirs: Int64s, planes: Bytes) -> None:
    """Write the planes of N positions to ``planes``; see :func:`planes_of`."""
    for i in range(len(mine)):
        own, other = int(mine[i]), int(theirs[i])
        occupied = own | other
        landing = playable(occupied)
        wins = winning_cells(own) & ~occupied
        losses = winning_cells(other) & ~occupied
        for cell, bit in enumerate(FROM_TOP):
            row, column = cell // COLUMNS, cell % COLUMNS
            planes[i, row, column, 0] = own >> bit & 1
            planes[i, row, column, 1] = other >> bit & 1
            planes[i, row, column, 2] = landing >> bit & 1
            planes[i, row, column, 3] = wins >> bit & 1
            planes[i, row, column, 4] = losses >> bit & 1


def planes_of(mine: Int64s, theirs: Int64s) -> Bytes:
    """Return the input planes of bitboards ``[N]``: uint8 ``[N, 6, 7, 5]``, with row 0 on top.

    The planes are: own discs; the other side's discs; playable cells; empty winning cells of the
    side to move; empty winning cells of the other side.
    """
    planes = np.empty((len(mine), ROWS, COLUMNS, PLANES), np.uint8)
    write_planes(mine, theirs, planes)
    return planes
