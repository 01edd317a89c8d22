"""Static evaluations as kernels, from published systems and from this project.

Each function is a heuristic (``c4env.agents.heuristics.names``) for lines of four.
"""

from __future__ import annotations

__any_board__ = True

from c4env.agents.heuristics import WIN
from c4env.agents.heuristics.threats import evaluate
from c4env.agents.heuristics.weights import WEIGHTS
from c4env.agents.heuristics.windows import count_in_windows, window_starts
from c4env.bitboard import BOARD, BOTTOM, CENTRE, DIRECTIONS, UP, has_won, popcount
from c4env.jit import kernel


@kernel("float64(int64, int64)")
def chain(mine: int, theirs: int) -> float:
    """The chain evaluation with fractional weights ("Connect 4 Simulator with Minimax").

    ``0.01*N1 + 0.04*N2 + 0.10*N3 + C`` in float64, in that order: near-ties decide moves. ``Nk`` is
    the number of windows with k own discs and no other disc, minus the other side's; ``C`` is 3 for
    each own disc in the centre column, minus 3 for each disc of the other side. The report does not
    give the weight of C; the released program has this weight.
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

    A window of 3 own discs and 1 empty cell counts +10, 2 own and 2 empty +5, 3 other and 1 empty
    -8, 2 other and 2 empty -4; each own disc in the centre column counts +6. The evaluation is not
    antisymmetric, since each side weights its own windows more than the other side's.
    """
    return _window_value(mine, theirs, 6, 5, 10, 4, 8)


@kernel("float64(int64, int64)")
def window_b(mine: int, theirs: int) -> float:
    """Window evaluation B, integer ("Implementation Report - Connect Four with Minimax AI").

    A window of 3 own discs and 1 empty cell counts +5, 2 own and 2 empty +2, 3 other and 1 empty
    -4; each own disc in the centre column counts +3, a weight that the report does not give.
    """
    return _window_value(mine, theirs, 3, 2, 5, 0, 4)


@kernel("int64(int64, int64, int64, int64, int64, int64)")
def _read_lines(mine: int, theirs: int, supported: int, starts: int, first: int, step: int) -> int:
    """Return the line score of all windows of one direction, read from one end.

    The cells a, b, c, d of the window at start bit i are ``i+first``, ``i+first+step``, ...;
    shifting every cell to bit i makes the rules ANDs (rule numbers: :func:`line_score`).
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
    """Return the line score of the Rust bot without wins ("Creating a Connect-4 Bot").

    Each window is read from both ends as a b c d. P is a disc of one colour, E an empty
    cell; a cell *rests* when it is on the bottom row or the cell below is taken, and in a
    vertical window always. The first rule that matches counts, for P's side:
    1 PPPE, d rests: 16. 2 PPEE, c and d rest: 8. 3 PPEP, c rests: 16. 4 PPEx, x not P,
    c rests: 4. 5 EPPE, a and d rest: 4. 6 never fires. 7 PEEE, b c d rest: 4. 8 PEEP,
    b and c rest: 4. 9 PEE and anything, b and c rest: 2.
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
    """The heuristic value of :func:`line_score`."""
    if has_won(mine):
        return WIN
    if has_won(theirs):
        return -WIN
    return float(line_score(mine, theirs))


@kernel("float64(int64, int64)")
def threats(mine: int, theirs: int) -> float:
    """Weighted sum of threats, pairs and discs; ``tests/makers/threats.py`` fitted the weights."""
    if has_won(mine):
        return WIN
    if has_won(theirs):
        return -WIN
    return evaluate(mine, theirs, WEIGHTS)
