"""Alpha-beta with threat ordering and a transposition table.

With every heuristic, the search returns the same value and column as naive minimax. Only the number
of nodes differs; ``c4 dev experiment pruning`` measures the difference.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final

import numpy as np
from numba import from_dtype, types
from numpy.typing import NDArray

from c4env.agents.heuristics.names import Heuristic
from c4env.agents.registry.options import DEFAULT_HEURISTIC, HeuristicName, Plies, checked
from c4env.agents.search.fixed_depth import INFINITY, INVALID, WATCHED, FixedDepth, leaf
from c4env.agents.search.lowlevel import pointer
from c4env.agents.search.packing import (
    BOUND_BITS,
    BOUND_MASK,
    board_key,
    bound_of,
    column_at,
    decides,
    table_place,
)
from c4env.agents.search.threads import STOPPED
from c4env.arrays import Int64s
from c4env.bitboard import (
    BITS,
    COLUMN,
    COLUMNS,
    STRIDE,
    drop,
    has_won,
    playable,
    popcount,
    winning_cells,
)
from c4env.jit import kernel

ENTRIES: Final = 1 << 20  # entries of the table
ENTRY: Final = np.dtype([("key", np.int64), ("value", np.float64)])  # a value, or a bound on it
# Fields of a key from its lowest bit: bound, depth, position, number of the search.
DEPTH_SHIFT: Final = BOUND_BITS
POSITION_SHIFT: Final = DEPTH_SHIFT + 6
AGE_SHIFT: Final = POSITION_SHIFT + BITS
LAST_AGE: Final = (1 << (63 - AGE_SHIFT)) - 1

RANK_BITS: Final = 8
GREATEST_RANK: Final = (1 << RANK_BITS) - 1

_int64, _float64, _bool = types.int64, types.float64, types.boolean
_heuristic = types.FunctionType(_float64(_int64, _int64))
_words = types.int64[::1]
_pointer = types.CPointer(_int64)
_table: Any = from_dtype(ENTRY)[::1]


@kernel(
    types.Tuple((_float64, _int64))(
        *[_int64] * 3, _float64, _float64, _bool, _heuristic, _float64, _int64, _table, _pointer
    )
)
def alphabeta(
    mine: int,
    theirs: int,
    depth: int,
    alpha: float,
    beta: float,
    searching: bool,
    heuristic: Heuristic,
    win: float,
    age: int,
    table: NDArray[np.void],
    work: Any,
) -> tuple[float, int]:
    """Return the value for the side to move (fail-soft), and the number of nodes.

    The rules are those of the published chain system.

    Args:
        age: this search's number, shifted by AGE_SHIFT; entries of other searches count as empty.
        table: [ENTRIES] ``ENTRY``; a key is 0 where empty.
        work: words of ``c4env.agents.search.threads``.
    """
    if has_won(theirs):
        return -win, 1
    moves = playable(mine | theirs)
    if depth == 0 or moves == 0:
        return leaf(mine, theirs, searching, heuristic)
    if depth >= WATCHED and work[STOPPED]:
        return 0.0, INVALID
    key = age | (board_key(mine, theirs) << POSITION_SHIFT) | (depth << DEPTH_SHIFT)
    entry = table[table_place(key, ENTRIES)]
    if depth > 1 and entry["key"] & ~BOUND_MASK == key:
        known = float(entry["value"])
        if decides(entry["key"] & BOUND_MASK, known, alpha, beta):
            return known, 1
    # The rank of each column, RANK_BITS each: threats after the move, then nearness to the
    # centre; the greatest for a win and 0 for a full column.
    ranks = 0
    taken = mine | theirs
    for column in range(COLUMNS):
        cell = moves & (COLUMN << (STRIDE * column))
        if cell:
            rank = 1 + COLUMNS // 2 - abs(column - COLUMNS // 2)
            if depth > 1:
                threats = winning_cells(mine | cell) & ~taken
                rank = GREATEST_RANK if has_won(mine | cell) else rank + 8 * popcount(threats)
            ranks |= rank << (RANK_BITS * column)
    best = -INFINITY
    first_alpha = alpha
    nodes = 1
    for _ in range(COLUMNS):
        chosen, rank = -1, 0
        for column in range(COLUMNS):
            if (ranks >> (RANK_BITS * column)) & GREATEST_RANK > rank:
                chosen, rank = column, (ranks >> (RANK_BITS * column)) & GREATEST_RANK
        if chosen < 0:
            break
        ranks &= ~(GREATEST_RANK << (RANK_BITS * chosen))
        cell = moves & (COLUMN << (STRIDE * chosen))
        own, replying = mine | cell, not searching
        value, searched = alphabeta(
            theirs, own, depth - 1, -beta, -alpha, replying, heuristic, win, age, table, work
        )
        if searched < 0:
            return 0.0, INVALID
        nodes += searched
        best = max(best, -value)
        alpha = max(alpha, best)
        if alpha >= beta:
            break
    if depth > 1:
        entry["key"] = key | bound_of(best, first_alpha, beta)
        entry["value"] = best
    return best, nodes


@kernel(
    types.Tuple((_int64, _float64, _int64))(
        *[_int64] * 3, _bool, _heuristic, _float64, _int64, _int64, _table, _words
    ),
    nogil=True,
)
def best_by_table(
    mine: int,
    theirs: int,
    depth: int,
    searching: bool,
    heuristic: Heuristic,
    win: float,
    order: int,
    age: int,
    table: NDArray[np.void],
    work: Int64s,
) -> tuple[int, float, int]:
    """Return the first best column in ``order``, its value, and the nodes below the root.

    The best value so far is the lower bound for the next column, so a column that only equals it
    fails low, and the first of equal columns stays. The number of nodes is INVALID as in
    :func:`c4env.agents.search.fixed_depth.best_column`.
    """
    words, far = pointer(work), INFINITY
    best, chosen, nodes = -far, -1, 0
    for place in range(COLUMNS):
        column = column_at(order, place)
        cell = drop(mine | theirs, column)
        if cell:
            own, replying = mine | cell, not searching
            value, searched = alphabeta(
                theirs, own, depth - 1, -far, -best, replying, heuristic, win, age, table, words
            )
            if searched < 0:
                return -1, 0.0, INVALID
            nodes += searched
            if -value > best:
                best, chosen = -value, column
    return chosen, best, nodes


class AlphaBetaTable(FixedDepth):
    """Alpha-beta with threat ordering and a transposition table, for any heuristic.

    Args:
        depth: plies looked ahead, the agent's own move included.
        heuristic: name or import path of the heuristic (``c4env.agents.heuristics.names``).
    """

    quick: ClassVar[int] = 10**10

    @checked
    def __init__(self, depth: Plies = 9, heuristic: HeuristicName = DEFAULT_HEURISTIC) -> None:
        super().__init__(depth, heuristic)
        self._table = np.zeros(0, ENTRY)  # allocated by the first search
        self._age = 0

    def _best(
        self, mine: int, theirs: int, depth: int, searching: bool, order: int
    ) -> tuple[int, float, int]:
        # Entries are valid for one side's view, so each move starts with an empty table.
        self._age += 1
        if not len(self._table) or self._age > LAST_AGE:
            self._table = np.zeros(ENTRIES, ENTRY)
            self._age = 1
        how = searching, self._heuristic, self.rules.win, order
        table = self._age << AGE_SHIFT, self._table
        return self._ask(best_by_table, mine, theirs, depth, *how, *table)
