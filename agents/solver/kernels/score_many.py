"""Kernels that score many positions in one call.

They have a module of their own, so that a search of one position does not wait for their compiling.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from c4env.arrays import Int8s, Int64s
from c4env.errors import InvalidOption, InvalidPosition
from c4env.jit import kernel

from ....bitboard import has_won, is_consistent, popcount, win_score
from ....position import Position, require_position
from ...search.lowlevel import pointer
from .driver import ABORTED, LARGEST, score_columns, solve
from .table import NO_SCORE


@kernel(
    "int64(int64[::1], int64[::1], int64[::1], int64[::1], int8[:, ::1], int64, int64)",
    nogil=True,
)
def score_range(
    table: Int64s,
    work: Int64s,
    mine: Int64s,
    theirs: Int64s,
    scores: Int8s,
    start: int,
    stop: int,
) -> int:
    """Write the scores of positions ``start`` to ``stop - 1``, or the scores of their columns.

    ``scores`` is [N, 1] for positions, or [N, 7] for columns; a full column gets ``NO_SCORE``.
    Returns the index of the first position without a score, ``stop`` unless the search was stopped.
    """
    words = pointer(table)
    frames = pointer(work)
    for i in range(start, stop):
        first, second = int(mine[i]), int(theirs[i])
        if scores.shape[1] == 1:
            if has_won(second):
                scores[i, 0] = -win_score(popcount(first | second))
                continue
            score = solve(words, frames, first, second, -LARGEST, LARGEST)
            if score == ABORTED:
                return i
            scores[i, 0] = score
        elif has_won(second):
            scores[i] = NO_SCORE
        elif not score_columns(table, work, first, second, NO_SCORE, True, scores[i]):
            return i
    return stop


@kernel("int64(int64[::1], int64[::1])")
def first_invalid(mine: Int64s, theirs: Int64s) -> int:
    """Return the index of the first pair of bitboards that is not a position, or -1."""
    for i in range(len(mine)):
        first, second = int(mine[i]), int(theirs[i])
        if has_won(first) or not is_consistent(first, second):
            return i
    return -1


def _integers(given: object) -> Int64s:
    try:
        boards = np.asarray(given)
        if boards.size == 0 or boards.dtype.kind in "iu":
            return np.ascontiguousarray(boards, np.int64)
    except ValueError:  # lists of different lengths
        pass
    raise InvalidOption(f"bitboards {given!r}: expected integers")


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
