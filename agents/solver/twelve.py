"""Read the 12-ply book of the package ``bitbully-databases`` (MIT licence) in place.

The book has the positions of exactly 12 discs in which the side to move has no immediate win. Of a
position and its mirror image the book has only one, which may be either. An entry has a code of 4
bytes (big-endian, signed) and a result of one byte. Entries are in ascending order of codes. The
code lists the columns from the left and each column from the bottom: bits ``10`` for a disc of the
side to move, ``11`` for a disc of the other side, ``0`` at the end of a column, and one final
``0``. The result is 0 for a draw, else 100 minus the number of plies to the end of the game. The
result is negative if the side to move loses.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from c4env.arrays import Int8s, Int64s
from c4env.bitboard import (
    CELLS,
    CENTRE_FIRST,
    COLUMNS,
    STRIDE,
    drop,
    mirror,
    win_score,
    winning_moves,
)
from c4env.jit import kernel

PLIES: Final = 12
NOT_STORED: Final = 99

Records = NDArray[np.uint8]
"""The bytes of the entries, ``[N, 5]``."""


@kernel("int64(int64, int64)")
def code(mine: int, theirs: int) -> int:
    """Return the code of a position, without mirroring the position."""
    bits = 0
    for column in range(COLUMNS):
        cell = 1 << (STRIDE * column)
        while (mine | theirs) & cell:
            bits = bits << 2 | (2 if mine & cell else 3)
            cell <<= 1
        bits <<= 1
    bits <<= 1
    return bits - (1 << 32) if bits >> 31 else bits


@kernel("int64(uint8[:, ::1], int64)")
def code_at(records: Records, index: int) -> int:
    """Return the code of an entry."""
    bits = 0
    for place in range(4):
        bits = bits << 8 | int(records[index, place])
    return bits - (1 << 32) if bits >> 31 else bits


@kernel("int64(uint8[:, ::1], int64)")
def end_of(records: Records, code: int) -> int:
    """Return the result byte of the entry with a code; ``-128`` if the code is not there."""
    low = 0
    high = len(records)
    while low < high:
        middle = (low + high) >> 1
        if code_at(records, middle) < code:
            low = middle + 1
        else:
            high = middle
    if low == len(records) or code_at(records, low) != code:
        return -128
    end = int(records[low, 4])
    return end - 256 if end > 127 else end


@kernel("int64(uint8[:, ::1], int64, int64, int64, int64, int64)")
def resolve(records: Records, mine: int, theirs: int, plies: int, alpha: int, beta: int) -> int:
    """Return the score of an unfinished position of at most 12 discs, or ``NOT_STORED``.

    The score is exact between ``alpha`` and ``beta``, and else a bound, as in alpha-beta search.
    """
    if winning_moves(mine, theirs):
        return win_score(plies + 1)
    if plies == PLIES:
        end = end_of(records, code(mine, theirs))
        if end == -128:
            end = end_of(records, code(mirror(mine), mirror(theirs)))
        if end == -128:
            return NOT_STORED
        if end == 0:
            return 0
        score = win_score(PLIES + 100 - abs(end))
        return score if end > 0 else -score
    best = -CELLS
    for column in CENTRE_FIRST:
        cell = drop(mine | theirs, column)
        if cell:
            score = resolve(records, theirs, mine | cell, plies + 1, -beta, -max(alpha, best))
            if score == NOT_STORED:
                return NOT_STORED
            best = max(best, -score)
            if best >= beta:
                break
    return best


@kernel("int8[::1](uint8[:, ::1], int64[::1], int64[::1], int64)")
def resolve_all(records: Records, mine: Int64s, theirs: Int64s, plies: int) -> Int8s:
    """Return the scores ``[N]`` of unfinished positions of ``plies`` discs."""
    scores = np.empty(len(mine), np.int8)
    for i in range(len(mine)):
        scores[i] = resolve(records, int(mine[i]), int(theirs[i]), plies, -CELLS, CELLS)
    return scores
