"""Static evaluations of lines of four, compiled: published ones and this project's own.

``chain``, ``window``, ``window-b`` and ``lines`` come from published systems, which their functions
name; ``threats`` is this project's. ``c4env.agents.heuristics.heuristic`` says what a heuristic is.

The functions count windows of four cells without a loop over all 69 windows. In a direction with
bit distance ``d``, the window that starts at cell ``i`` holds the cells ``i, i+d, i+2d, i+3d``. The
AND of the board and the board shifted by ``d``, ``2d`` and ``3d`` has one bit for each full window
of the direction, and a popcount counts these bits.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import types

from c4env.agents.heuristics import WIN
from c4env.agents.heuristics.weights import WEIGHTS
from c4env.arrays import Float64s
from c4env.bitboard import (
    BOARD,
    BOTTOM,
    CENTRE,
    COLUMN,
    COLUMNS,
    DIRECTIONS,
    ROWS,
    SIDEWAYS,
    STRIDE,
    UP,
    has_won,
    playable,
    popcount,
    winning_cells,
)
from c4env.jit import kernel

# The weights of ``threats``: the index where each kind begins. A role is 0 if unknown, 1 for the
# first player and 2 for the second.
ROLES: Final = 3
HALF_WIDTH: Final = (COLUMNS + 1) // 2  # columns from an edge to the centre
THREATS: Final = 0  # [ROLES, ROWS] a winning cell that cannot be played yet, by its row
READY: Final = THREATS + ROLES * ROWS  # [ROLES] a winning cell that can be played
GUARDED: Final = READY + ROLES  # [ROLES] a threat right above a threat of the other side
FLAT_PAIRS: Final = GUARDED + ROLES  # horizontal windows of two own discs and no other disc
SLANTED_PAIRS: Final = FLAT_PAIRS + 1  # diagonal windows of two own discs and no other disc
SINGLES: Final = FLAT_PAIRS + 2  # windows of one own disc and no other disc
COLUMN_VALUES: Final = FLAT_PAIRS + 3  # [HALF_WIDTH] a disc, by columns from the edge
ROW_VALUES: Final = COLUMN_VALUES + HALF_WIDTH  # [ROWS] a disc in a row
FIRST_PLAYER: Final = ROW_VALUES + ROWS  # the side is the first player, if known
SIZE: Final = FIRST_PLAYER + 1

_COLUMN_PAIRS: Final = np.array(
    [COLUMN << (STRIDE * c) | COLUMN << (STRIDE * (COLUMNS - 1 - c)) for c in range(HALF_WIDTH)],
    dtype=np.int64,
)
_WEIGHTS_TYPE = types.Array(types.float64, 1, "C", readonly=True)


@kernel("int64(int64)")
def window_starts(shift: int) -> int:
    """Return the first cells of all windows of a direction, by its bit distance."""
    return BOARD & (BOARD >> shift) & (BOARD >> (2 * shift)) & (BOARD >> (3 * shift))


@kernel("UniTuple(int64, 4)(int64, int64, int64)")
def count_in_windows(mine: int, theirs: int, shift: int) -> tuple[int, int, int, int]:
    """Return masks of the windows with exactly 1, 2, 3, 4 own discs and no other disc.

    A mask has the first cell of each of these windows, which run in the direction of ``shift``. Two
    half adders and a full adder add the four one-bit columns ``mine >> k*shift`` for all windows in
    parallel.
    """
    a = mine
    b = mine >> shift
    c = mine >> (2 * shift)
    d = mine >> (3 * shift)
    taken = theirs | (theirs >> shift) | (theirs >> (2 * shift)) | (theirs >> (3 * shift))
    live = window_starts(shift) & ~taken
    low_ab, high_ab = a ^ b, a & b
    low_cd, high_cd = c ^ d, c & d
    ones = low_ab ^ low_cd
    carry = low_ab & low_cd
    twos = high_ab ^ high_cd ^ carry
    fours = high_ab & high_cd
    return (
        live & ones & ~twos,
        live & twos & ~ones & ~fours,
        live & ones & twos,
        live & fours,
    )


@kernel("float64(int64, int64)")
def chain(mine: int, theirs: int) -> float:
    """The chain evaluation with fractional weights ("Connect 4 Simulator with Minimax").

    The value is ``0.01*N1 + 0.04*N2 + 0.10*N3 + C``, added in float64 in this order, since rounding
    can decide a move. ``Nk`` is the number of windows with k own discs and no other disc, minus the
    other side's; ``C`` is 3 for each own disc in the centre column, minus 3 for each of the other
    side's. The weight of C comes from the released program; the report does not give it.
    """
    n1 = 0
    n2 = 0
    n3 = 0
    for shift in DIRECTIONS:
        one, two, three, four = count_in_windows(mine, theirs, shift)
        if four:
            return WIN
        n1 += popcount(one)
        n2 += popcount(two)
        n3 += popcount(three)
        one, two, three, four = count_in_windows(theirs, mine, shift)
        if four:
            return -WIN
        n1 -= popcount(one)
        n2 -= popcount(two)
        n3 -= popcount(three)
    centre = 3 * (popcount(mine & CENTRE) - popcount(theirs & CENTRE))
    return ((0.01 * n1 + 0.04 * n2) + 0.1 * n3) + centre


@kernel("float64(int64, int64, int64, int64, int64, int64, int64)", inline="always")
def _window_value(
    mine: int, theirs: int, centre: int, two: int, three: int, their_two: int, their_three: int
) -> float:
    """Return weighted counts of windows and of own centre discs, or the value of a win."""
    value = centre * popcount(mine & CENTRE)
    for shift in DIRECTIONS:
        _, twos, threes, four = count_in_windows(mine, theirs, shift)
        if four:
            return WIN
        value += two * popcount(twos) + three * popcount(threes)
        _, twos, threes, four = count_in_windows(theirs, mine, shift)
        if four:
            return -WIN
        value -= their_two * popcount(twos) + their_three * popcount(threes)
    return float(value)


@kernel("float64(int64, int64)")
def window(mine: int, theirs: int) -> float:
    """Window evaluation A, integer ("Design and Implementation of a Minimax Agent").

    A window of 3 own discs and 1 empty cell counts +10, and a window of 2 own discs and 2 empty
    cells +5. For windows of the other side the two numbers are -8 and -4. An own disc in the centre
    column counts +6. The evaluation is not antisymmetric: each side weights its own windows more.
    """
    return _window_value(mine, theirs, 6, 5, 10, 4, 8)


@kernel("float64(int64, int64)")
def window_b(mine: int, theirs: int) -> float:
    """Window evaluation B, integer ("Implementation Report - Connect Four with Minimax AI").

    A window of 3 own discs and 1 empty cell counts +5, a window of 2 own discs and 2 empty cells
    +2, a window of 3 discs of the other side and 1 empty cell -4. An own disc in the centre column
    counts +3 (the report does not give this weight).
    """
    return _window_value(mine, theirs, 3, 2, 5, 0, 4)


@kernel("int64(int64, int64, int64, int64, int64, int64)")
def _score_from_one_end(
    mine: int, theirs: int, supported: int, starts: int, first: int, step: int
) -> int:
    """Return the line score of all windows of one direction, read from one end.

    The cells a, b, c, d of the window at start bit i are ``i+first``, ``i+first+step``, ... Shifted
    to bit i, they make each rule of :func:`line_score` an AND of bitboards.
    """
    empty = ~(mine | theirs) & BOARD
    at_b = first + step
    at_c = at_b + step
    at_d = at_c + step
    empty_a = empty >> first
    empty_b = empty >> at_b
    empty_c = empty >> at_c
    empty_d = empty >> at_d
    rests_b = supported >> at_b
    rests_c = supported >> at_c
    rests_d = supported >> at_d
    end_c = empty_c & rests_c
    end_d = empty_d & rests_d
    ends = empty_a & (supported >> first) & end_d
    after_b = empty_b & rests_b & end_c
    value = 0
    for side in range(2):
        p = mine if side == 0 else theirs
        a = starts & (p >> first)
        b = p >> at_b
        c = p >> at_c
        d = p >> at_d
        pair = a & b
        sixteen = (pair & c & end_d) | (pair & end_c & d)  # rules 1, 3
        eight = pair & end_c & end_d  # rule 2
        four = (
            (pair & end_c & ~d & ~end_d)  # rule 4
            | (starts & ends & b & c)  # rule 5
            | (a & after_b & (end_d | d))  # rules 7, 8
        )
        two = a & after_b & ~end_d & ~d  # rule 9
        score = (
            16 * popcount(sixteen) + 8 * popcount(eight) + 4 * popcount(four) + 2 * popcount(two)
        )
        value += score if side == 0 else -score
    return value


@kernel("int64(int64, int64)")
def line_score(mine: int, theirs: int) -> int:
    """Return the Rust bot's score of lines, without wins ("Creating a Connect-4 Bot").

    The function reads each window from both ends as cells a b c d. P is a disc of one colour, E an
    empty cell. A cell *rests* if it is on the bottom row, if the cell below is taken, or if the
    window is vertical. The first rule that matches gives its score to the side of P:

    - 16 for PPPE if d rests; 8 for PPEE if c and d rest; 16 for PPEP if c rests;
    - 4 for PPE and another cell if c rests; 4 for EPPE if a and d rest;
    - 4 for PEEE if b, c and d rest; 4 for PEEP if b and c rest;
    - 2 for PEE and any cell if b and c rest.
    """
    value = 0
    resting = ((mine | theirs) << UP) | BOTTOM
    for shift in DIRECTIONS:
        starts = window_starts(shift)
        supported = BOARD if shift == UP else resting
        value += _score_from_one_end(mine, theirs, supported, starts, 0, shift)
        value += _score_from_one_end(mine, theirs, supported, starts, 3 * shift, -shift)
    return value


@kernel("float64(int64, int64)")
def lines(mine: int, theirs: int) -> float:
    """Return :func:`line_score` as a heuristic's value, or ``+WIN`` or ``-WIN`` on a won board."""
    if has_won(mine):
        return WIN
    if has_won(theirs):
        return -WIN
    return float(line_score(mine, theirs))


@kernel(types.float64(types.int64, types.int64, types.int64, _WEIGHTS_TYPE))
def side_value(mine: int, theirs: int, role: int, weights: Float64s) -> float:
    """Return the weighted sum of one side's features."""
    taken = mine | theirs
    ready = playable(taken)
    wins = winning_cells(mine) & ~taken
    their_wins = winning_cells(theirs) & ~taken
    distant = wins & ~ready
    guarded = distant & (their_wins << UP)
    value = weights[READY + role] * popcount(wins & ready)
    value += weights[GUARDED + role] * popcount(guarded)
    distant &= ~guarded
    for row in range(ROWS):
        cells = BOTTOM << row
        value += weights[THREATS + role * ROWS + row] * popcount(distant & cells)
        value += weights[ROW_VALUES + row] * popcount(mine & cells)
    for column in range(HALF_WIDTH):
        value += weights[COLUMN_VALUES + column] * popcount(mine & _COLUMN_PAIRS[column])
    singles = 0
    for shift in SIDEWAYS:
        one, two, _, _ = count_in_windows(mine, theirs, shift)
        singles += popcount(one)
        value += weights[FLAT_PAIRS if shift == STRIDE else SLANTED_PAIRS] * popcount(two)
    return float(value + weights[SINGLES] * singles)


@kernel(types.float64(types.int64, types.int64, _WEIGHTS_TYPE))
def evaluate(mine: int, theirs: int, weights: Float64s) -> float:
    """Return the value of an undecided board for the side whose discs are ``mine``.

    The value is linear in the weights, float64 ``[SIZE]``, so that regression can fit them, and
    ``evaluate(a, b) == -evaluate(b, a)``.

    A threat is a cell where a disc would complete four. Threats decide games of Connect Four. A
    threat that cannot be played yet is worth more the lower it lies. The parity of its row matters
    too: the first player tends to get odd rows, the second even rows. So the weight of a threat
    depends on its row and on the role of its side. The role is unknown when both sides have the
    same number of discs.
    """
    ahead = popcount(mine) - popcount(theirs)
    role = 1 if ahead > 0 else (2 if ahead < 0 else 0)
    value = side_value(mine, theirs, role, weights)
    value -= side_value(theirs, mine, 3 - role if role else 0, weights)
    return float(value + weights[FIRST_PLAYER] * ahead)


@kernel("float64(int64, int64)")
def threats(mine: int, theirs: int) -> float:
    """Return a weighted sum of threats, pairs and discs (fitted by ``tests/makers/threats.py``)."""
    if has_won(mine):
        return WIN
    if has_won(theirs):
        return -WIN
    return evaluate(mine, theirs, WEIGHTS)
