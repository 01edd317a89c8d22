"""Exact scores of many positions: the loops of ``Solver.scores_many`` and ``columns_many``.

The solver imports this module on their first use, so that one score compiles nothing of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from c4env.agents.solver.driver import ABORTED, score_columns, solve
from c4env.agents.solver.table import NO_SCORE
from c4env.arrays import Int8s, Int64s
from c4env.bitboard import has_won, is_consistent, popcount
from c4env.errors import InvalidOption, InvalidPosition
from c4env.jit import kernel
from c4env.position import Position, require_position


@kernel(
    "int64(int64[::1], int64[::1], int64[::1], int64[::1], int8[::1], int8[::1], int8[::1],"
    " int64, int64)",
    nogil=True,
)
def score_range(
    table: Int64s,
    work: Int64s,
    mine: Int64s,
    theirs: Int64s,
    low: Int8s,
    high: Int8s,
    scores: Int8s,
    start: int,
    stop: int,
) -> int:
    """Write the scores of positions ``start`` to ``stop - 1``, clipped to ``low`` and ``high``.

    Returns the index of the first position without a score, ``stop`` unless the search was stopped.
    """
    for i in range(start, stop):
        floor, ceiling = int(low[i]), int(high[i])
        score = solve(table, work, int(mine[i]), int(theirs[i]), floor, ceiling)
        if score == ABORTED:
            return i
        scores[i] = score
    return stop


@kernel(
    "int64(int64[::1], int64[::1], int64[::1], int64[::1], int8[::1], int8[:, ::1], int64, int64)",
    nogil=True,
)
def columns_range(
    table: Int64s,
    work: Int64s,
    mine: Int64s,
    theirs: Int64s,
    known: Int8s,
    scores: Int8s,
    start: int,
    stop: int,
) -> int:
    """Write the scores ``[N, 7]`` of the columns of positions ``start`` to ``stop - 1``.

    A full column gets ``NO_SCORE``. ``known`` has the positions' scores, or
    ``NO_SCORE`` where a score is not known. The result is as of :func:`score_range`.
    """
    for i in range(start, stop):
        first, second = int(mine[i]), int(theirs[i])
        if has_won(second):
            scores[i] = NO_SCORE
        elif not score_columns(table, work, first, second, known[i], True, scores[i]):
            return i
    return stop


@kernel("int64(int64[::1], int64[::1])")
def first_invalid(mine: Int64s, theirs: Int64s) -> int:
    """Return the index of the first pair of bitboards that is not a position, or -1."""
    for i in range(len(mine)):
        first, second = int(mine[i]), int(theirs[i])
        if has_won(first) or not is_consistent(first, second, popcount(second) - popcount(first)):
            return i
    return -1


def parse_bitboards(
    mine: Sequence[Position] | ArrayLike, theirs: ArrayLike | None
) -> tuple[Int64s, Int64s]:
    """Check the arguments of :meth:`Solver.scores_many`; return them as two arrays.

    Raises:
        InvalidPosition: a pair of bitboards is not a position; the message names the first.
        InvalidOption: the arrays are not integers of shape [N].
    """
    if theirs is None:
        if not isinstance(mine, Iterable):
            raise InvalidPosition(f"{mine!r}: expected positions, or two arrays of bitboards")
        positions: list[Position] = []
        for i, position in enumerate(cast("Sequence[object]", mine)):
            try:
                positions.append(require_position(position))
            except InvalidPosition as error:
                raise InvalidPosition(f"position {i}: {error}") from None
        first = np.fromiter((p.mine for p in positions), np.int64, len(positions))
        second = np.fromiter((p.theirs for p in positions), np.int64, len(positions))
        return first, second
    first, second = (_integers(sides) for sides in (mine, theirs))
    if first.ndim != 1 or first.shape != second.shape:
        raise InvalidOption(
            f"bitboards of shapes {first.shape} and {second.shape}: expected two of shape [N]"
        )
    bad = first_invalid(first, second)
    if bad >= 0:
        raise InvalidPosition(
            f"position {bad}: bitboards {int(first[bad]):#x} (side to move) and "
            f"{int(second[bad]):#x} are not a position"
        )
    return first, second


def _integers(bitboards: object) -> Int64s:
    try:
        array = np.asarray(bitboards)
        if array.size == 0 or array.dtype.kind in "iu":
            return np.ascontiguousarray(array, np.int64)
    except ValueError:  # lists of different lengths
        pass
    raise InvalidOption(f"bitboards {bitboards!r}: expected integers")
