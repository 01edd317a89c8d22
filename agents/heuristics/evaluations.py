"""Compiled static evaluations, from published systems and from this project.

Each function is a heuristic (``c4env.agents.heuristics.names``) for lines of four.
"""

from __future__ import annotations

from c4env.agents.heuristics.weights import WEIGHTS
from c4env.jit import kernel

from ...bitboard import BOARD, BOTTOM, CENTRE, DIRECTIONS, UP, has_won, popcount
from . import WIN
from .threats import evaluate
from .windows import count_in_windows, window_starts


@kernel("float64(int64, int64)")
def chain(mine: int, theirs: int) -> float:
    """The chain evaluation with fractional weights ("Connect 4 Simulator with Minimax").

    The value is ``0.01*N1 + 0.04*N2 + 0.10*N3 + C``, added in float64 in this order, since rounding
    can decide a move. ``Nk`` is the number of windows with k own discs and no other disc, minus the
    other side's; ``C`` is 3 for each own disc in the centre column, minus 3 for each of the other
    side's. The weight of C is that of the released program; the report does not give it.
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

    A window of 3 own discs and 1 empty cell counts +10, a window of 2 own discs and 2 empty cells
    +5; such windows of the other side count -8 and -4. Each own disc in the centre column counts
    +6. The evaluation is not antisymmetric: each side weights its own windows more.
    """
    return _window_value(mine, theirs, 6, 5, 10, 4, 8)


@kernel("float64(int64, int64)")
def window_b(mine: int, theirs: int) -> float:
    """Window evaluation B, integer ("Implementation Report - Connect Four with Minimax AI").

    A window of 3 own discs and 1 empty cell counts +5, a window of 2 own discs and 2 empty cells
    +2, a window of 3 discs of the other side and 1 empty cell -4. Each own disc in the centre
    column counts +3 (the report does not give this weight).
    """
    return _window_value(mine, theirs, 3, 2, 5, 0, 4)


@kernel("int64(int64, int64, int64, int64, int64, int64)")
def _read_lines(mine: int, theirs: int, supported: int, starts: int, first: int, step: int) -> int:
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

    Each window is read from both ends as cells a b c d. P is a disc of one colour, E an empty
    cell. A cell *rests* if it is on the bottom row, if the cell below is taken, or if the window
    is vertical. The first rule that matches gives its score to the side of P:

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
        value += _read_lines(mine, theirs, supported, starts, 0, shift)
        value += _read_lines(mine, theirs, supported, starts, 3 * shift, -shift)
    return value


@kernel("float64(int64, int64)")
def lines(mine: int, theirs: int) -> float:
    """Return :func:`line_score` as a heuristic's value, or ``+WIN`` or ``-WIN`` on a won board."""
    if has_won(mine):
        return WIN
    if has_won(theirs):
        return -WIN
    return float(line_score(mine, theirs))


@kernel("float64(int64, int64)")
def threats(mine: int, theirs: int) -> float:
    """Return a weighted sum of threats, pairs and discs (fitted by ``tests/makers/threats.py``)."""
    if has_won(mine):
        return WIN
    if has_won(theirs):
        return -WIN
    return evaluate(mine, theirs, WEIGHTS)
