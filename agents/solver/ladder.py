"""A ladder of solvers for measurements: each rung adds one improvement to plain negamax.

The rungs follow "Solving Connect 4" (Pons), all with bitboards. The full solver,
:class:`c4env.agents.solver.Solver`, goes beyond them.
"""

from __future__ import annotations

from typing import Final

from c4env.agents.published.negamax import STOPPED, negamax
from c4env.agents.search.lowlevel import pointer
from c4env.agents.search.packing import board_key
from c4env.agents.solver.search.driver import OUTWARDS
from c4env.arrays import Int64s
from c4env.bitboard import (
    BOARD,
    CELLS,
    COLUMN,
    COLUMNS,
    STRIDE,
    playable,
    popcount,
    safe_moves,
    win_score,
    winning_cells,
    winning_moves,
)
from c4env.jit import kernel

RUNGS: Final = (
    "negamax",
    "+ alpha-beta",
    "+ centre first",
    "+ transposition table",
    "+ null windows",
    "+ no losing moves",
    "+ threats first",
)
ALPHA_BETA, CENTRE, TABLE, NULL_WINDOW, NO_LOSING_MOVES, THREATS = range(1, len(RUNGS))

VALUE_BITS: Final = 8  # low bits of an entry, which hold the value
VALUE_BIAS: Final = 64  # added to a score before it is stored
ENTRIES: Final = (1 << 22) + 15  # 4,194,319 entries of the table: odd, to spread remainders


@kernel("UniTuple(int64, 2)(int64, int64, int64, int64, int64, int64, int64, int64[::1])")
def rung_search(
    mine: int, theirs: int, plies: int, alpha: int, beta: int, rung: int, limit: int, table: Int64s
) -> tuple[int, int]:
    """Search a position that is not won with the solver of one rung of the ladder.

    For the rung NO_LOSING_MOVES and later rungs, the side to move must have no immediate win.

    Args:
        table: [ENTRIES]; an entry is a key followed by an upper bound in the lowest VALUE_BITS
            bits. An empty entry is 0.

    Returns:
        the score, clipped to ``alpha..beta`` (fail-hard), or STOPPED; and the number of nodes,
        including this node.
    """
    nodes = 1
    if plies == CELLS:
        return 0, nodes
    moves = playable(mine | theirs)
    if rung >= NO_LOSING_MOVES:
        moves = safe_moves(moves, winning_cells(theirs))
        if moves == 0:
            return -win_score(plies + 2), nodes
        if plies >= CELLS - 2:
            return 0, nodes
        alpha = max(alpha, -win_score(plies + 4))
    elif winning_moves(mine, theirs):
        return win_score(plies + 1), nodes
    highest = win_score(plies + 3)
    key = board_key(mine, theirs)
    place = key % ENTRIES
    if rung >= TABLE and table[place] >> VALUE_BITS == key:
        highest = min(highest, (table[place] & ((1 << VALUE_BITS) - 1)) - VALUE_BIAS)
    beta = min(beta, highest)
    if alpha >= beta:
        return beta, nodes
    tried = 0
    for turn in range(COLUMNS):
        column = -1
        if rung >= THREATS:
            rank = -1
            for other in OUTWARDS:
                cell = moves & (COLUMN << (STRIDE * other))
                if cell and not tried >> other & 1:
                    cells = winning_cells(mine | cell) & BOARD & ~(mine | theirs)
                    if popcount(cells) > rank:
                        rank = popcount(cells)
                        column = other
            if column < 0:
                break
            tried |= 1 << column
        elif rung >= CENTRE:
            column = OUTWARDS[turn]
        else:
            column = turn
        cell = moves & (COLUMN << (STRIDE * column))
        if cell:
            score, searched = rung_search(
                theirs, mine | cell, plies + 1, -beta, -alpha, rung, limit - nodes, table
            )
            nodes += searched
            if score == STOPPED or nodes > limit:
                return STOPPED, nodes
            if -score >= beta:
                return -score, nodes
            alpha = max(alpha, -score)
    if rung >= TABLE:
        table[place] = (key << VALUE_BITS) | (alpha + VALUE_BIAS)
    return alpha, nodes


@kernel("UniTuple(int64, 2)(int64, int64, int64, int64, int64[::1], int64[::1])")
def rung_score(
    mine: int, theirs: int, rung: int, limit: int, table: Int64s, work: Int64s
) -> tuple[int, int]:
    """Return the exact score of an unfinished position, or STOPPED, and the nodes searched.

    Args:
        table: as for :func:`rung_search`.
        work: as for :func:`c4env.agents.published.negamax.negamax`.
    """
    plies = popcount(mine | theirs)
    if rung < ALPHA_BETA:
        return negamax(mine, theirs, plies, limit, pointer(work))
    if winning_moves(mine, theirs):
        return win_score(plies + 1), 1
    lowest = -win_score(plies + 2)
    highest = win_score(plies + 1)
    nodes = 0
    if rung < NULL_WINDOW:
        return rung_search(mine, theirs, plies, lowest, highest, rung, limit, table)
    while lowest < highest:
        middle = lowest + (highest - lowest) // 2
        if middle <= 0 and lowest // 2 < middle:
            middle = -((-lowest) // 2)
        elif middle >= 0 and highest // 2 > middle:
            middle = highest // 2
        score, searched = rung_search(
            mine, theirs, plies, middle, middle + 1, rung, limit - nodes, table
        )
        nodes += searched
        if score == STOPPED or nodes > limit:
            return STOPPED, nodes
        if score <= middle:
            highest = score
        else:
            lowest = score
    return lowest, nodes
