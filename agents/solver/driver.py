"""From searches with one limit to scores: of a position, of its columns, of many positions."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import types
from numpy.typing import NDArray

from agents.solver.lowlevel import POINTER, pointer
from agents.solver.search import EPOCH, LIMIT, NODES, hashed, search
from agents.solver.table import LAST_EPOCH
from c4env.bitboard import (
    BOARD,
    BOTTOM,
    CELLS,
    COLUMN,
    COLUMNS,
    STRIDE,
    has_won,
    is_consistent,
    mirror,
    popcount,
    winning_cells,
)
from c4env.jit import kernel

ABORTED: Final = 99  # no score: the search was stopped
FULL: Final = 98  # no score: the column is full
FAR: Final = 20  # plies to where a score beyond a limit is decided, the sign unknown
FAR_SIGNED: Final = 28  # the same once the sign is known

_int64 = types.int64
_words = types.int64[::1]


@kernel("int64(int64, int64, int64)")
def next_limit(lowest: int, highest: int, plies: int) -> int:
    """The limit to search with next when the score lies in ``lowest..highest``.

    Scores far from 0 come first, at half the greatest that is possible: a win that must come
    soon is quickly decided, and most easy positions end there. Where the decision lies
    further than ``FAR`` plies ahead that costs more than it saves: then the sign is
    found, and from it the search goes outwards, each limit harder than the one before.
    """
    if lowest >= 0:
        outer = highest >> 1
        if outer > lowest + 1 and CELLS - 2 * outer - plies <= FAR_SIGNED:
            return outer
        return lowest
    if highest <= 0:
        outer = -((-lowest) >> 1)
        if outer < highest - 2 and CELLS + 2 * outer - plies <= FAR_SIGNED:
            return outer
        return highest - 1
    outer = highest >> 1 if highest >= -lowest else -((-lowest) >> 1)
    if abs(outer) > 1 and CELLS - 2 * abs(outer) - plies <= FAR:
        return min(max(outer, lowest), highest - 1)
    return 0


@kernel(types.int64(POINTER, POINTER, _int64, _int64, _int64, _int64))
def solve(table: Any, work: Any, mine: int, theirs: int, floor: int, ceiling: int) -> int:
    """The score of a position nobody has won, or ``ABORTED``.

    A score below ``floor`` comes out as ``floor``, one above ``ceiling`` as ``ceiling``.
    """
    plies = popcount(mine | theirs)
    my_wins = winning_cells(mine)
    their_wins = winning_cells(theirs)
    sign = 1
    while True:
        playable = ((mine | theirs) + BOTTOM) & BOARD
        if my_wins & playable:
            score = sign * ((CELLS + 1 - plies) >> 1)
            return min(max(score, floor), ceiling)
        forced = their_wins & playable
        safe = playable & ~(their_wins >> 1)
        if forced:
            safe &= forced
            if forced & (forced - 1):
                safe = 0
        if safe == 0:
            score = -sign * ((CELLS - plies) >> 1)
            return min(max(score, floor), ceiling)
        if safe & (safe - 1):
            break
        mine, theirs = theirs, mine | safe
        my_wins, their_wins = their_wins, winning_cells(theirs)
        plies += 1
        sign = -sign
    # Nobody wins with the next disc or the one after.
    lowest = -((CELLS - 2 - plies) >> 1)
    highest = (CELLS - 1 - plies) >> 1
    if sign < 0:
        floor, ceiling = -ceiling, -floor
    if lowest > ceiling:
        return sign * ceiling
    if highest < floor:
        return sign * floor
    lowest = max(lowest, floor)
    highest = min(highest, ceiling)
    while lowest < highest:
        limit = next_limit(lowest, highest, plies)
        score = search(
            table,
            work,
            mine,
            theirs,
            my_wins,
            their_wins,
            plies,
            limit,
            hashed(mine, theirs, plies),
        )
        if work[NODES] >= work[LIMIT]:
            return ABORTED
        if score > limit:
            lowest = min(score, highest)
        else:
            highest = max(score, lowest)
    return sign * lowest


@kernel(types.int64(_words, _words, _int64, _int64, _int64, _int64), nogil=True)
def score_position(
    table: NDArray[np.int64],
    work: NDArray[np.int64],
    mine: int,
    theirs: int,
    floor: int,
    ceiling: int,
) -> int:
    """:func:`solve`, called from Python."""
    return solve(pointer(table), pointer(work), mine, theirs, floor, ceiling)


@kernel(
    types.int64(
        _words, _words, _words, _words, types.int8[::1], _int64, _int64, _int64, types.boolean
    ),
    nogil=True,
)
def score_batch(
    table: NDArray[np.int64],
    work: NDArray[np.int64],
    mine: NDArray[np.int64],
    theirs: NDArray[np.int64],
    scores: NDArray[np.int8],
    start: int,
    stop: int,
    bound: int,
    fresh: bool,
) -> int:
    """Scores of the positions ``start..stop-1``, cut off at ``-bound`` and ``bound``.

    Args:
        table: the transposition table.
        work: the workspace.
        mine: [N] bitboards of the sides to move.
        theirs: [N] bitboards of the other sides.
        scores: [N], written to.
        start: the first position.
        stop: the one after the last.
        bound: 22 for scores, 1 for their signs.
        fresh: begin each position with an empty table.

    Returns:
        the number of the first position without a score: ``stop``, unless stopped.
    """
    words = pointer(table)
    frames = pointer(work)
    for i in range(start, stop):
        if fresh:
            if work[EPOCH] == LAST_EPOCH:
                table[:] = 0
                work[EPOCH] = 0
            work[EPOCH] += 1
        if has_won(theirs[i]):
            score = -((CELLS + 2 - popcount(mine[i] | theirs[i])) >> 1)
            scores[i] = min(max(score, -bound), bound)
        else:
            score = solve(words, frames, int(mine[i]), int(theirs[i]), -bound, bound)
            if score == ABORTED:
                return i
            scores[i] = score
    return stop


@kernel(
    types.boolean(_words, _words, _int64, _int64, _int64, _int64, types.int8[::1], types.boolean),
    nogil=True,
)
def score_columns(
    table: NDArray[np.int64],
    work: NDArray[np.int64],
    mine: int,
    theirs: int,
    floor: int,
    ceiling: int,
    scores: NDArray[np.int8],
    exact: bool,
) -> bool:
    """The score of each column of a position that is not over; False when stopped.

    Args:
        table: the transposition table.
        work: the workspace.
        mine: bitboard of the side to move.
        theirs: bitboard of the other side.
        floor: a known lower bound of the position's score.
        ceiling: a known upper bound.
        scores: [7], written to; ``FULL`` where a column is.
        exact: columns that are not best need their score too, not just a lower one.
    """
    words = pointer(table)
    frames = pointer(work)
    occupied = mine | theirs
    plies = popcount(occupied)
    playable = (occupied + BOTTOM) & BOARD
    symmetric = mirror(mine) == mine and mirror(theirs) == theirs
    best = solve(words, frames, mine, theirs, floor, ceiling)
    if best == ABORTED:
        return False
    # A column's score lies between a loss to the next disc and the best.
    worst = -((CELLS - plies) >> 1)
    for i in range(COLUMNS):
        column = COLUMNS // 2 + ((i + 1) >> 1 if i & 1 else -(i >> 1))  # 3 4 2 5 1 6 0
        cell = playable & (COLUMN << (STRIDE * column))
        if cell == 0:
            scores[column] = FULL
        elif symmetric and column < COLUMNS // 2:
            scores[column] = scores[COLUMNS - 1 - column]
        elif has_won(mine | cell):
            scores[column] = (CELLS + 1 - plies) >> 1
        else:
            lowest = worst if exact else best - 1
            score = solve(words, frames, theirs, mine | cell, -best, -lowest)
            if score == ABORTED:
                return False
            scores[column] = -score
    return True


@kernel(types.int64(_words, _words))
def first_invalid(mine: NDArray[np.int64], theirs: NDArray[np.int64]) -> int:
    """The number of the first pair of bitboards that is no position, or -1."""
    for i in range(len(mine)):
        first, second = int(mine[i]), int(theirs[i])
        if first & ~BOARD or second & ~BOARD or has_won(first):
            return i
        if not is_consistent(first, second):
            return i
    return -1
