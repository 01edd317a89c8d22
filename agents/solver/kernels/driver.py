"""Drive null-window searches to the exact scores of positions and columns."""

from __future__ import annotations

from math import inf
from typing import Any, Final

from c4env.agents.search.threads import LIMIT, NEVER, NODES, STOPPED
from c4env.arrays import Int8s, Int64s
from c4env.jit import kernel

from ....bitboard import (
    CELLS,
    CENTRE_FIRST,
    COLUMNS,
    drop,
    has_won,
    mirror,
    playable,
    popcount,
    safe_moves,
    win_score,
    winning_cells,
)
from ...search.lowlevel import POINTER, pointer
from .null_window import SPENT, hashed, search
from .table import NO_SCORE

ABORTED: Final = 99  # the score of a search that was stopped
OUTWARDS: Final = tuple(COLUMNS - 1 - column for column in CENTRE_FIRST)  # right, then left
LEAST_EFFORT: Final = 100  # nodes that ``Solver.bounds`` may always search; a call takes longer
LARGEST: Final = CELLS // 2 + 1  # the greatest score
FAR: Final = 20  # most plies to a win beyond an alpha far from 0, if the sign is unknown
FAR_SIGNED: Final = 28  # FAR if the sign is known


@kernel("int64(int64, int64, int64)")
def next_alpha(lowest: int, highest: int, plies: int) -> int:
    """Return the next alpha to search, given that the score is in ``lowest..highest``.

    The first alphas are far from 0: such a search quickly decides whether a win comes soon, and
    most easy positions need nothing more. If such a win would be more than ``FAR`` plies ahead, the
    driver first finds the sign of the score, and then moves alpha outwards from 0.
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


@kernel(f"UniTuple(int64, 2)({POINTER}, {POINTER}, int64, int64, int64, int64)")
def bisect_score(
    table: Any, work: Any, mine: int, theirs: int, floor: int, ceiling: int
) -> tuple[int, int]:
    """Return a lower and an upper bound on the score of a position that is not won.

    The bounds, clipped to ``floor`` and ``ceiling``, are equal unless the search was stopped.
    """
    plies = popcount(mine | theirs)
    my_wins = winning_cells(mine)
    their_wins = winning_cells(theirs)
    sign = 1
    while True:
        moves = playable(mine | theirs)
        if my_wins & moves:
            score = min(max(sign * win_score(plies + 1), floor), ceiling)
            return score, score
        safe = safe_moves(moves, their_wins)
        if safe == 0:
            score = min(max(-sign * win_score(plies + 2), floor), ceiling)
            return score, score
        if safe & (safe - 1):
            break
        mine, theirs = theirs, mine | safe
        my_wins, their_wins = their_wins, winning_cells(theirs)
        plies += 1
        sign = -sign
    # No side wins with either of the next two discs.
    if sign < 0:
        floor, ceiling = -ceiling, -floor
    lowest = min(max(-win_score(plies + 4), floor), ceiling)
    highest = max(min(win_score(plies + 3), ceiling), floor)
    while lowest < highest:
        alpha = next_alpha(lowest, highest, plies)
        score = search(
            table,
            work,
            mine,
            theirs,
            my_wins,
            their_wins,
            plies,
            alpha,
            hashed(mine, theirs, plies),
        )
        if work[NODES] >= work[LIMIT]:
            break
        if score > alpha:
            lowest = min(score, highest)
        else:
            highest = max(score, lowest)
    if sign < 0:
        return -highest, -lowest
    return lowest, highest


@kernel(f"int64({POINTER}, {POINTER}, int64, int64, int64, int64)")
def solve(table: Any, work: Any, mine: int, theirs: int, floor: int, ceiling: int) -> int:
    """Return the score that :func:`bisect_score` finds; ``ABORTED`` if the search was stopped."""
    lowest, highest = bisect_score(table, work, mine, theirs, floor, ceiling)
    return lowest if lowest == highest else ABORTED


@kernel("UniTuple(int64, 2)(int64[::1], int64[::1], int64, int64, int64, int64)", nogil=True)
def bound_score(
    table: Int64s, work: Int64s, mine: int, theirs: int, floor: int, ceiling: int
) -> tuple[int, int]:
    """Call :func:`bisect_score` from Python."""
    return bisect_score(pointer(table), pointer(work), mine, theirs, floor, ceiling)


@kernel(
    "boolean(int64[::1], int64[::1], int64, int64, int64, int64, int8[::1], int8[::1], float64)",
    nogil=True,
)
def score_columns(
    table: Int64s,
    work: Int64s,
    mine: int,
    theirs: int,
    floor: int,
    ceiling: int,
    lowest: Int8s,
    highest: Int8s,
    effort: float,
) -> bool:
    """Write bounds on the scores of the columns of an unfinished position; False if stopped.

    The position's own score is between ``floor`` and ``ceiling``. A full column has ``NO_SCORE``.
    With an infinite ``effort`` all scores are exact. Otherwise only the best columns get exact
    scores, and the search tightens the bounds of the others until it has searched ``effort`` times
    as many nodes as the position's own score took.
    """
    words = pointer(table)
    frames = pointer(work)
    occupied = mine | theirs
    plies = popcount(occupied)
    symmetric = mirror(mine) == mine and mirror(theirs) == theirs
    best = solve(words, frames, mine, theirs, floor, ceiling)
    if best == ABORTED:
        return False
    if work[SPENT] < 0:  # unknown unless an earlier call was stopped after this point
        work[SPENT] = work[NODES]
    # A column's score is between a loss by the opponent's next disc and the best score.
    worst = -win_score(plies + 2)
    unknown = 0
    for column in OUTWARDS:
        cell = drop(occupied, column)
        if cell == 0:
            lowest[column] = highest[column] = NO_SCORE
        elif symmetric and column < COLUMNS // 2:
            lowest[column] = lowest[COLUMNS - 1 - column]
            highest[column] = highest[COLUMNS - 1 - column]
        elif has_won(mine | cell):
            lowest[column] = highest[column] = win_score(plies + 1)
        else:
            least = worst if effort == inf else max(worst, best - 1)
            score = solve(words, frames, theirs, mine | cell, -best, -least)
            if score == ABORTED:
                return False
            highest[column] = -score
            lowest[column] = -score if -score == best or effort == inf else worst
            if lowest[column] < highest[column]:
                unknown += 1
    if unknown == 0 or effort == 0:
        return True
    # Each other column gets an equal part of the remaining nodes.
    given = work[LIMIT]
    budget = max(int(min(effort * work[SPENT], NEVER)), LEAST_EFFORT)
    for column in OUTWARDS:
        if lowest[column] == highest[column]:
            continue
        if symmetric and column < COLUMNS // 2:
            lowest[column] = lowest[COLUMNS - 1 - column]
            highest[column] = highest[COLUMNS - 1 - column]
            continue
        part = max(budget - work[NODES], 0) // unknown
        unknown -= 1
        work[LIMIT] = min(work[NODES] + part, given)
        if not work[STOPPED]:
            cell = drop(occupied, column)
            low, high = bisect_score(
                words, frames, theirs, mine | cell, -int(highest[column]), -int(lowest[column])
            )
            lowest[column] = -high
            highest[column] = -low
        if work[STOPPED] or work[NODES] >= given:
            return False
    work[LIMIT] = given
    return True
