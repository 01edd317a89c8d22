"""Drive null-window searches to the exact scores of positions and of columns."""

from __future__ import annotations

from typing import Final

from c4env.agents.search.lowlevel import pointer
from c4env.agents.search.threads import LIMIT, NODES
from c4env.agents.solver.null_window import (
    MIXED,
    ROOT,
    mixed_key,
    reset_workspace,
    search,
    write_node,
)
from c4env.agents.solver.table import NO_SCORE
from c4env.arrays import Int8s, Int64s
from c4env.bitboard import (
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
from c4env.jit import kernel

ABORTED: Final = 99  # the score of a search that was stopped
TRIAL_NODES: Final = 20_000  # nodes before a search moves to threads of its own: some ms
OUTWARDS: Final = tuple(COLUMNS - 1 - column for column in CENTRE_FIRST)  # right, then left
LARGEST: Final = CELLS // 2 + 1  # the greatest score
SOON_PLIES: Final = 20  # most plies to a win beyond an alpha far from 0, if the sign is unknown
SOON_PLIES_SIGNED: Final = 28  # the same if the sign is known


@kernel("int64(int64, int64, int64)")
def next_alpha(lowest: int, highest: int, plies: int) -> int:
    """Return the next alpha to search, given that the score is in ``lowest..highest``.

    The first alphas are far from 0, because a search there quickly decides whether a win comes
    soon, and most easy positions need nothing more. If a win beyond alpha would be more than
    ``SOON_PLIES`` ahead, the driver first finds the sign of the score, and then moves alpha
    outwards from 0.
    """
    if lowest >= 0:
        outer = highest >> 1
        if outer > lowest + 1 and CELLS - 2 * outer - plies <= SOON_PLIES_SIGNED:
            return outer
        return lowest
    if highest <= 0:
        outer = -((-lowest) >> 1)
        if outer < highest - 2 and CELLS + 2 * outer - plies <= SOON_PLIES_SIGNED:
            return outer
        return highest - 1
    outer = highest >> 1 if highest >= -lowest else -((-lowest) >> 1)
    if abs(outer) > 1 and CELLS - 2 * abs(outer) - plies <= SOON_PLIES:
        return min(max(outer, lowest), highest - 1)
    return 0


@kernel("UniTuple(int64, 2)(int64[::1], int64[::1], int64, int64, int64, int64)", nogil=True)
def bound_score(
    table: Int64s, work: Int64s, mine: int, theirs: int, floor: int, ceiling: int
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
    words, frames = pointer(table), pointer(work)
    write_node(frames, ROOT, mine, theirs, my_wins, their_wins, plies)
    work[ROOT + MIXED] = mixed_key(mine, theirs, plies)
    while lowest < highest:
        alpha = next_alpha(lowest, highest, plies)
        score = search(words, frames, ROOT, alpha)
        if work[NODES] >= work[LIMIT]:
            break
        if score > alpha:
            lowest = min(score, highest)
        else:
            highest = max(score, lowest)
    if sign < 0:
        return -highest, -lowest
    return lowest, highest


@kernel("int64(int64[::1], int64[::1], int64, int64, int64, int64)", nogil=True)
def solve(table: Int64s, work: Int64s, mine: int, theirs: int, floor: int, ceiling: int) -> int:
    """Return a position's score, clipped; ``ABORTED`` if the search was stopped."""
    if has_won(theirs):
        return min(max(-win_score(popcount(mine | theirs)), floor), ceiling)
    lowest, highest = bound_score(table, work, mine, theirs, floor, ceiling)
    return lowest if lowest == highest else ABORTED


@kernel("UniTuple(int64, 2)(int64[::1], int64[::1], int64, int64, int64, int64)")
def try_to_solve(
    table: Int64s, work: Int64s, epoch: int, mine: int, theirs: int, most: int
) -> tuple[int, int]:
    """Return the score, clipped to ``-most..most``, and the nodes; ABORTED at ``TRIAL_NODES``.

    The interpreter's lock is kept, because to release it would take a tenth of the time of a late
    position.
    """
    reset_workspace(work, table, epoch, TRIAL_NODES)
    return solve(table, work, mine, theirs, -most, most), work[NODES]


@kernel("boolean(int64[::1], int64[::1], int64, int64, int64, boolean, int8[::1])", nogil=True)
def score_columns(
    table: Int64s, work: Int64s, mine: int, theirs: int, best: int, exact: bool, scores: Int8s
) -> bool:
    """Write the scores ``[7]`` of the columns of an unfinished position; False if stopped.

    A full column gets ``NO_SCORE``. If not ``exact``, the best columns have their scores, and all
    others just less. ``best`` is the position's score, or ``NO_SCORE`` if the search must find it.
    """
    occupied = mine | theirs
    plies = popcount(occupied)
    symmetric = mirror(mine) == mine and mirror(theirs) == theirs
    if best == NO_SCORE:
        best = solve(table, work, mine, theirs, -LARGEST, LARGEST)
    if best == ABORTED:
        return False
    # A column's score is between a loss by the opponent's next disc and the best score.
    worst = -win_score(plies + 2)
    least = worst if exact else max(worst, best - 1)
    for column in OUTWARDS:
        cell = drop(occupied, column)
        if cell == 0:
            scores[column] = NO_SCORE
        elif symmetric and column < COLUMNS // 2:
            scores[column] = scores[COLUMNS - 1 - column]
        elif has_won(mine | cell):
            scores[column] = win_score(plies + 1)
        else:
            score = solve(table, work, theirs, mine | cell, -best, -least)
            if score == ABORTED:
                return False
            scores[column] = -score
    return True
