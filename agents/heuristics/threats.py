"""A static evaluation that is linear in its weights, so that regression can fit them.

A threat is a cell where a disc would complete four. Threats decide games of Connect Four. A threat
that cannot be played yet is worth more the lower it lies. The parity of a threat's row matters too:
the first player tends to get odd rows, the second even rows. So the weight of a threat depends on
its row and on the role of its side: first player, second player, or unknown. The role is unknown
when both sides have the same number of discs.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import types

from c4env.arrays import Float64s
from c4env.jit import kernel

from ...bitboard import (
    BOTTOM,
    COLUMN,
    COLUMNS,
    ROWS,
    SIDEWAYS,
    STRIDE,
    UP,
    playable,
    popcount,
    winning_cells,
)
from .windows import count_in_windows

# The index where each kind of weight begins. A role is 0 if unknown, 1 for the first player
# and 2 for the second.
ROLES: Final = 3
HALF: Final = (COLUMNS + 1) // 2  # columns from an edge to the centre
THREATS: Final = 0  # [ROLES, ROWS] a winning cell that cannot be played yet, by its row
READY: Final = THREATS + ROLES * ROWS  # [ROLES] a winning cell that can be played
GUARDED: Final = READY + ROLES  # [ROLES] a threat right above a threat of the other side
PAIRS: Final = GUARDED + ROLES  # horizontal windows of two own discs and no other disc
SLANTED_PAIRS: Final = PAIRS + 1  # diagonal windows of two own discs and no other disc
SINGLES: Final = PAIRS + 2  # windows of one own disc and no other disc
COLUMN_VALUES: Final = PAIRS + 3  # [HALF] a disc in an outermost column, ..., in the centre
ROW_VALUES: Final = COLUMN_VALUES + HALF  # [ROWS] a disc in a row
FIRST: Final = ROW_VALUES + ROWS  # the side is the first player, if known
SIZE: Final = FIRST + 1

_COLUMN_PAIRS: Final = np.array(
    [COLUMN << (STRIDE * c) | COLUMN << (STRIDE * (COLUMNS - 1 - c)) for c in range(HALF)],
    dtype=np.int64,
)
_weights = types.Array(types.float64, 1, "C", readonly=True)


@kernel(types.float64(types.int64, types.int64, types.int64, _weights))
def side_value(own: int, other: int, role: int, weights: Float64s) -> float:
    """Return the weighted sum of one side's features; ``weights`` is [SIZE]."""
    taken = own | other
    ready = playable(taken)
    wins = winning_cells(own) & ~taken
    their_wins = winning_cells(other) & ~taken
    distant = wins & ~ready
    guarded = distant & (their_wins << UP)
    value = weights[READY + role] * popcount(wins & ready)
    value += weights[GUARDED + role] * popcount(guarded)
    distant &= ~guarded
    for row in range(ROWS):
        cells = BOTTOM << row
        value += weights[THREATS + role * ROWS + row] * popcount(distant & cells)
        value += weights[ROW_VALUES + row] * popcount(own & cells)
    for column in range(HALF):
        value += weights[COLUMN_VALUES + column] * popcount(own & _COLUMN_PAIRS[column])
    singles = 0
    for shift in SIDEWAYS:
        one, two, _, _ = count_in_windows(own, other, shift)
        singles += popcount(one)
        value += weights[PAIRS if shift == STRIDE else SLANTED_PAIRS] * popcount(two)
    return float(value + weights[SINGLES] * singles)


@kernel(types.float64(types.int64, types.int64, _weights))
def evaluate(mine: int, theirs: int, weights: Float64s) -> float:
    """Return the value of an undecided board for the side whose discs are ``mine``.

    ``evaluate(a, b) == -evaluate(b, a)``. ``weights`` is float64 ``[SIZE]``.
    """
    ahead = popcount(mine) - popcount(theirs)
    role = 1 if ahead > 0 else (2 if ahead < 0 else 0)
    value = side_value(mine, theirs, role, weights)
    value -= side_value(theirs, mine, 3 - role if role else 0, weights)
    return float(value + weights[FIRST] * ahead)
