"""Static evaluations as kernels, those of the published systems and our own; their table by name.

A heuristic is ``float64(int64 mine, int64 theirs)``: the value of an undecided
position for the side that owns ``mine``, whoever is to move. The searches decide
wins themselves and never ask about a won board; asked all the same, each answers
``+WIN`` or ``-WIN``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

import numba
from numba import types

from agents.errors import InvalidHeuristic
from agents.search.threats import evaluate
from agents.search.weights import WEIGHTS
from agents.search.windows import count_in_windows, window_starts
from agents.zoo.imports import import_attribute, meant
from c4env.bitboard import BOARD, BOTTOM, CENTRE, DIRECTIONS, UP, has_won, popcount
from c4env.jit import config, kernel

Heuristic = Callable[[int, int], float]

WIN: Final = 1_000_000.0
"""Value of a won game in the searches; every heuristic stays strictly between -WIN and WIN."""


@kernel("float64(int64, int64)")
def chain(mine: int, theirs: int) -> float:
    """The fractional chain evaluation ("Connect 4 Simulator with Minimax").

    ``0.01*N1 + 0.04*N2 + 0.10*N3 + C`` in float64, in that order: near-ties decide moves.
    ``Nk`` is the number of windows with k own and no other disc, minus the other side's;
    ``C`` is 3 for each own disc in the centre column minus 3 for each of the other's.
    The released program's weight of C is used, since the report leaves it open.
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
    """Weighted counts of windows and of own discs in the centre column, or a win's value."""
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
    """The integer window evaluation A ("Design and Implementation of a Minimax Agent").

    3 own + 1 empty +10, 2 own + 2 empty +5, 3 other + 1 empty -8, 2 other + 2 empty -4;
    +6 for each own disc in the centre column. Not antisymmetric: each side weights
    its own windows more than the other's.
    """
    return _window_value(mine, theirs, 6, 5, 10, 4, 8)


@kernel("float64(int64, int64)")
def window_b(mine: int, theirs: int) -> float:
    """The integer window evaluation B ("Implementation Report - Connect Four with Minimax AI").

    3 own + 1 empty +5, 2 own + 2 empty +2, 3 other + 1 empty -4; own discs in the centre
    column +3 each, a weight the report leaves open.
    """
    return _window_value(mine, theirs, 3, 2, 5, 0, 4)


@kernel("int64(int64, int64, int64, int64, int64, int64)")
def _read_lines(mine: int, theirs: int, supported: int, starts: int, first: int, step: int) -> int:
    """Line score of all windows of one direction, read one way.

    The cells a, b, c, d of the window at start bit i are ``i+first``, ``i+first+step``, ..;
    every one is brought to bit i, so rules are ANDs (rule numbers: :func:`line_score`).
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
    """The line score of the Rust bot, without wins ("Creating a Connect-4 Bot").

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
    """:func:`line_score` as a heuristic."""
    if has_won(mine):
        return WIN
    if has_won(theirs):
        return -WIN
    return float(line_score(mine, theirs))


@kernel("float64(int64, int64)")
def threats(mine: int, theirs: int) -> float:
    """Threats, pairs and cells, with weights fitted to exact scores by ``agents.learned``."""
    if has_won(mine):
        return WIN
    if has_won(theirs):
        return -WIN
    return evaluate(mine, theirs, WEIGHTS)


HEURISTICS: Final[dict[str, Heuristic]] = {
    "chain": chain,
    "lines": lines,
    "threats": threats,
    "window": window,
    "window-b": window_b,
}

_SIGNATURE: Final = types.float64(types.int64, types.int64)


def load(name: str | Heuristic) -> Heuristic:
    """The heuristic of this name, of an import path ``package.module:function``, or itself.

    A function that is not compiled yet is compiled for ``float64(int64, int64)``.

    Raises:
        InvalidHeuristic: nothing there, or a compiled function of another signature.
    """
    if not isinstance(name, str):
        return check(name, getattr(name, "__name__", repr(name)))
    if name in HEURISTICS:
        return HEURISTICS[name]
    module_name, _, attribute = name.partition(":")
    expected = f"expected one of {', '.join(HEURISTICS)}, or package.module:function"
    if not module_name or not attribute:
        raise InvalidHeuristic(f"heuristic {name!r}{meant(name, HEURISTICS)}: {expected}")
    try:
        function = import_attribute(name)
    except (ImportError, AttributeError) as error:
        raise InvalidHeuristic(f"heuristic {name!r}: {error}; {expected}") from error
    return check(function, name)


def require_finite(value: float, name: object) -> float:
    """A value a heuristic gave, if it is one a search can use.

    Raises:
        InvalidHeuristic: nan, or not strictly between -WIN and WIN.
    """
    if not -WIN < value < WIN:
        raise InvalidHeuristic(
            f"heuristic {name!r} gave {value}: expected a number strictly between "
            f"{-WIN:,.0f} and {WIN:,.0f}"
        )
    return value


def not_a_value(heuristic: object) -> InvalidHeuristic:
    """The error of a search whose heuristic gave, at some leaf, a value no search can use.

    Args:
        heuristic: the heuristic, or its name.
    """
    return InvalidHeuristic(
        f"heuristic {heuristic!r} gave a value that is not a number strictly between "
        f"{-WIN:,.0f} and {WIN:,.0f}"
    )


def repeats(heuristic: Heuristic) -> bool:
    """True when a heuristic is known to value a board always alike: ours, and those that say so.

    A user's function may draw random numbers; one that does not says so by an attribute,
    ``function.deterministic = True``.
    """
    ours = any(heuristic is known for known in HEURISTICS.values())
    return ours or getattr(heuristic, "deterministic", False) is True


def check(function: Any, name: str) -> Heuristic:
    """A user's function as a heuristic: compiled, and of the one signature.

    Raises:
        InvalidHeuristic: not a function, does not compile, or returns something else than
            a float64. An int is not truncated or widened in silence.
    """
    if not callable(function):
        raise InvalidHeuristic(f"heuristic {name!r}: {function!r} is not a function")
    if config.DISABLE_JIT:
        return function  # type: ignore[no-any-return]  # runs uncompiled, like all kernels
    if not hasattr(function, "nopython_signatures"):
        function = numba.njit(function)
    try:
        if _SIGNATURE.args not in function.overloads:
            function.compile(_SIGNATURE.args)
        result = function.overloads[_SIGNATURE.args].signature.return_type
    except (numba.core.errors.NumbaError, RuntimeError, TypeError) as error:
        words = re.sub(r"\x1b\[\d*m", "", " ".join(str(error).split()))
        raise InvalidHeuristic(
            f"heuristic {name!r} does not compile for (int64 mine, int64 theirs): {words[:600]}"
        ) from None
    if result != types.float64:
        raise InvalidHeuristic(
            f"heuristic {name!r} returns {result}: expected float64, the value for `mine`"
        )
    return function  # type: ignore[no-any-return]  # a dispatcher
