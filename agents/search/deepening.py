"""Iterative-deepening alpha-beta within a time or node budget.

The search has a transposition table. The table's column comes first, and then moves by threats,
killers and history. All moves after the first are searched with null windows (principal variation
search). Forced replies do not count as depth, which serves as a quiescence search.
"""

from __future__ import annotations

from math import inf
from typing import Any, Final, NamedTuple

import numpy as np
from numba import from_dtype, types
from numpy.typing import NDArray

from c4env.agents.base import LineSearch
from c4env.agents.heuristics.heuristic import WIN, Heuristic, HeuristicFunction
from c4env.agents.making.options import (
    HeuristicName,
    Megabytes,
    Movetime,
    Plies,
    Positions,
    validate_args,
)
from c4env.agents.search.fixed_depth import INFINITY, INVALID, leaf, search_with
from c4env.agents.search.lowlevel import (
    CENTRE_FIRST,
    COLUMN_BITS,
    COLUMN_MASK,
    POINTER,
    board_key,
    column_at,
    columns_in,
    pack,
    pointer,
)
from c4env.agents.search.threads import LIMIT, NEVER, NODES, STOP_NOW, WORDS
from c4env.arrays import Int64s
from c4env.bitboard import (
    BITS,
    CELLS,
    COLUMN,
    COLUMNS,
    STRIDE,
    drop,
    has_won,
    playable,
    popcount,
    safe_moves,
    winning_cells,
    winning_moves,
)
from c4env.geometry import require_standard
from c4env.jit import kernel
from c4env.position import Position

require_standard(__name__)

DEFAULT_NODES: Final = 200_000

# Words of a workspace, besides the words of ``c4env.agents.search.threads``.
AGE: Final = 2  # the table's age; entries of another age count as empty
INVALID_VALUE: Final = 3  # 1 once an unusable heuristic value stops the search
KILLERS: Final = WORDS  # [CELLS + 1] the last column that caused a cutoff at this ply, plus one
HISTORY: Final = KILLERS + CELLS + 1  # [2, BITS] a cell's cutoffs for either side, weighted
MOVES: Final = HISTORY + 2 * BITS  # [CELLS + 1, COLUMNS] each ply's moves, by falling rank
WORKSPACE: Final = MOVES + (CELLS + 1) * COLUMNS

# Parts of a move's rank, besides its history.
TABLE_RANK: Final = 1 << 40
KILLER_RANK: Final = 1 << 10
THREAT_RANK: Final = 1 << 14

NULL_WINDOW: Final = 1e-6  # width of a null window; closer values count as equal

ENTRY: Final = np.dtype(  # an entry of the transposition table
    [
        ("key", np.int64),  # see ``table_key``; 0 where empty
        ("value", np.float64),
        ("depth", np.int8),  # the depth of the search
        ("column", np.int8),  # the best column, or the column of the cutoff
        ("bound", np.int8),  # the kind of the value: EXACT, LOWER or UPPER
    ],
    align=True,
)
EXACT: Final = 1
LOWER: Final = 2  # the value is a lower bound
UPPER: Final = 3

VIEW_SHIFT: Final = BITS  # bit of the key above the position: the side of the entry's view
AGE_SHIFT: Final = VIEW_SHIFT + 1
LAST_AGE: Final = (1 << 12) - 1
SPREAD: Final = 0x9E3779B97F4A7  # an odd factor, which spreads keys over a table
SPREAD_SHIFT: Final = 20  # the lower bits of the product are the least mixed


class Context(NamedTuple):
    """What every node of a search needs."""

    heuristic: HeuristicFunction
    work: Any  # a pointer to the workspace


_int64, _float64, _bool = types.int64, types.float64, types.boolean
_heuristic = types.FunctionType(_float64(_int64, _int64))
_words = types.int64[::1]
_entry: Any = from_dtype(ENTRY)
_table: Any = _entry[::1]
_context = types.NamedTuple((_heuristic, types.CPointer(_int64)), Context)


@kernel("float64(int64)")
def win_at(plies: int) -> float:
    """Return the value of a win by disc number ``plies``; an earlier win is worth more."""
    return WIN + (CELLS + 1 - plies)


@kernel("int64(int64, int64, boolean, int64)")
def table_key(mine: int, theirs: int, searching: bool, age: int) -> int:
    """Return the table key of a position, the search's number and whether the agent is to move."""
    return board_key(mine, theirs) | (int(searching) << VIEW_SHIFT) | (age << AGE_SHIFT)


@kernel("int64(int64, int64)")
def table_place(key: int, entries: int) -> int:
    """Return the index of a key in a table of ``entries`` entries, a power of two."""
    return ((key * SPREAD) >> SPREAD_SHIFT) & (entries - 1)


@kernel(_bool(_entry, _int64, _float64, _float64), forceinline=True)
def decides(entry: np.void, depth: int, alpha: float, beta: float) -> bool:
    """Return True if an entry decides a search of this depth between alpha and beta."""
    bound, value = entry["bound"], entry["value"]
    return bool(
        entry["depth"] >= depth
        and (
            bound == EXACT
            or (bound == LOWER and value >= beta)
            or (bound == UPPER and value <= alpha)
        )
    )


@kernel(_float64(_int64, _int64, _bool, _context), forceinline=True)
def leaf_value(mine: int, theirs: int, searching: bool, context: Context) -> float:
    """Return a leaf's value for the side to move; stop the search if the value is unusable."""
    value, count = leaf(mine, theirs, searching, context.heuristic)
    if count == INVALID:
        context.work[INVALID_VALUE] = 1
        context.work[LIMIT] = STOP_NOW
    return float(value)


@kernel(f"int64({POINTER}, int64, int64, int64, int64, int64)", forceinline=True)
def list_moves(work: Any, mine: int, theirs: int, safe: int, depth: int, first: int) -> int:
    """List the columns of the moves ``safe`` in the workspace by falling rank; return their number.

    A word has a column in its lowest ``COLUMN_BITS`` bits, and above them the rank. ``first`` is
    the table's column, or -1.
    """
    taken = mine | theirs
    plies = popcount(taken)
    start = MOVES + plies * COLUMNS
    count = 0
    for i in range(COLUMNS):
        column = column_at(CENTRE_FIRST, i)
        cell = safe & (COLUMN << (STRIDE * column))
        if cell == 0:
            continue
        rank = work[HISTORY + (plies & 1) * BITS + popcount(cell - 1)]
        if depth > 1:  # the replies are not leaves
            rank += THREAT_RANK * popcount(winning_cells(mine | cell) & ~taken)
        if work[KILLERS + plies] == column + 1:
            rank += KILLER_RANK
        if column == first:
            rank += TABLE_RANK
        slot = start + count
        while slot > start and work[slot - 1] >> COLUMN_BITS < rank:
            work[slot] = work[slot - 1]
            slot -= 1
        work[slot] = rank << COLUMN_BITS | column
        count += 1
    return count


@kernel(f"void({POINTER}, int64, int64, int64, int64)", forceinline=True)
def note_cutoff(work: Any, plies: int, column: int, cell: int, depth: int) -> None:
    """Note that a move caused a cutoff, as the ply's killer and in the history."""
    work[KILLERS + plies] = column + 1
    work[HISTORY + (plies & 1) * BITS + popcount(cell - 1)] += depth * depth


@kernel(_float64(_int64, _int64, _int64, _float64, _float64, _bool, _context, _table))
def deepen(
    mine: int,
    theirs: int,
    depth: int,
    alpha: float,
    beta: float,
    searching: bool,
    context: Context,
    table: NDArray[np.void],
) -> float:
    """Return the value of an undecided board for the side to move (fail-soft).

    Heuristics take the agent's view; ``searching`` is True if the agent is to move. The result is
    meaningless once ``work[NODES]`` reaches ``work[LIMIT]``.
    """
    work = context.work
    if work[NODES] >= work[LIMIT]:
        return 0.0
    work[NODES] += 1
    plies = popcount(mine | theirs)
    moves = playable(mine | theirs)
    if moves == 0:
        return 0.0
    if winning_cells(mine) & moves:
        return win_at(plies + 1)
    safe = safe_moves(moves, winning_cells(theirs))
    if safe == 0:
        return -win_at(plies + 2)
    if safe & (safe - 1) == 0:
        return -deepen(theirs, mine | safe, depth, -beta, -alpha, not searching, context, table)
    if depth <= 0:
        return leaf_value(mine, theirs, searching, context)
    # No side wins with either of the next two discs.
    if win_at(plies + 3) <= alpha:
        return win_at(plies + 3)
    if -win_at(plies + 4) >= beta:
        return -win_at(plies + 4)

    key = table_key(mine, theirs, searching, int(work[AGE]))
    entry = table[table_place(key, len(table))]
    first = int(entry["column"]) if entry["key"] == key else -1
    if first >= 0 and decides(entry, depth, alpha, beta):
        return float(entry["value"])
    count = list_moves(work, mine, theirs, safe, depth, first)
    best, chosen, floor = -INFINITY, -1, alpha
    for i in range(count):
        column = int(work[MOVES + plies * COLUMNS + i]) & COLUMN_MASK
        cell = safe & (COLUMN << (STRIDE * column))
        after = mine | cell
        value = floor
        if i > 0:
            null = -floor - NULL_WINDOW
            value = -deepen(theirs, after, depth - 1, null, -floor, not searching, context, table)
        if i == 0 or floor < value < beta:
            value = -deepen(theirs, after, depth - 1, -beta, -floor, not searching, context, table)
        if work[NODES] >= work[LIMIT]:
            return 0.0
        if value > best:
            best, chosen = value, column
            floor = max(floor, best)
            if floor >= beta:
                note_cutoff(work, plies, column, cell, depth)
                break
    entry["key"] = key
    entry["value"] = best
    entry["depth"] = depth
    entry["column"] = chosen
    entry["bound"] = LOWER if best >= beta else (EXACT if best > alpha else UPPER)
    return best


@kernel(
    types.Tuple((_int64, _float64))(_int64, _int64, _int64, _int64, _heuristic, _words, _table),
    nogil=True,
)
def best_at_depth(
    mine: int,
    theirs: int,
    depth: int,
    order: int,
    heuristic: HeuristicFunction,
    work: Int64s,
    table: NDArray[np.void],
) -> tuple[int, float]:
    """Return the best column at a depth, and its value for the side to move.

    The packed ``order`` gives the order of columns; the first of equal columns stays. If the search
    was stopped, the result is the best column searched so far, or -1 before the first.
    """
    taken = mine | theirs
    context = Context(heuristic, pointer(work))
    best, chosen = -INFINITY, -1
    for i in range(COLUMNS):
        column = column_at(order, i)
        cell = drop(taken, column)
        if cell == 0:
            continue
        if has_won(mine | cell):
            return column, win_at(popcount(taken) + 1)
        after = mine | cell
        null = -best - NULL_WINDOW
        value = -INFINITY
        if chosen >= 0:
            value = -deepen(theirs, after, depth - 1, null, -best, False, context, table)
        if chosen < 0 or value > best:
            value = -deepen(theirs, after, depth - 1, -INFINITY, -best, False, context, table)
        if work[NODES] >= work[LIMIT]:
            break
        if value > best:
            best, chosen = value, column
    return chosen, best


class Deepening(LineSearch):
    """Plays by iterative-deepening alpha-beta within a time or node budget.

    Args:
        nodes: positions for each move (200000 without another budget).
        depth: plies looked ahead at most. The agent's own move is included.
        table_mb: memory of the table, which is allocated when first needed.
    """

    @validate_args
    def __init__(
        self,
        movetime: Movetime | None = None,
        nodes: Positions | None = None,
        depth: Plies | None = None,
        heuristic: HeuristicName = "threats",
        table_mb: Megabytes = 32,
    ) -> None:
        self.movetime = movetime
        if movetime is None and nodes is None and depth is None:
            nodes = DEFAULT_NODES
        self.limit = nodes
        self.depth = CELLS if depth is None else depth
        self.table_mb = table_mb
        self._heuristic = Heuristic.of(heuristic)
        self._work = np.zeros(WORKSPACE, np.int64)
        self._table = np.zeros(0, ENTRY)

    @property
    def _repeats(self) -> bool:
        """Whether the same position always gets the same column."""
        return self.movetime is None and self._heuristic.deterministic

    def close(self) -> None:
        """Give the table's memory back, until the next search."""
        self._table = np.zeros(0, ENTRY)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state of a copy, which allocates its own table."""
        return vars(self) | {"_table": np.zeros(0, ENTRY), "_work": np.zeros_like(self._work)}

    def _best(self, position: Position) -> tuple[int, float, int, int]:
        self._begin()
        result = search_with(
            self._heuristic,
            lambda asked, _: self._iterate(position, asked),
            inf if self.limit is None else self.limit,
            self._work,
            self.movetime,
        )
        if self._work[INVALID_VALUE]:
            raise self._heuristic.error()
        return result

    def _begin(self) -> None:
        """Empty the table and the workspace, and set the budget."""
        if not len(self._table):
            entries = (self.table_mb << 20) // ENTRY.itemsize
            self._table = np.zeros(1 << (entries.bit_length() - 1), ENTRY)
        work = self._work
        age = int(work[AGE]) + 1
        if age > LAST_AGE:
            self._table["key"] = 0
            age = 1
        work[:] = 0
        work[AGE] = age
        work[LIMIT] = NEVER if self.limit is None else self.limit

    def _iterate(self, position: Position, heuristic: Any) -> tuple[int, float, int, int]:
        """Search with increasing depth until the budget is used; return as :meth:`_best`."""
        work = self._work
        columns = position.legal_columns()
        order = CENTRE_FIRST
        best = next(c for c in columns_in(order) if c in columns)
        value, completed = 0.0, 0
        for depth in range(1, min(self.depth, CELLS - position.plies) + 1):
            column, new_value = best_at_depth(
                position.mine, position.theirs, depth, order, heuristic, work, self._table
            )
            if column >= 0:  # valid at an unfinished depth too: the last best came first
                best, value = column, new_value
            if work[NODES] >= work[LIMIT]:
                break
            completed = depth
            if abs(value) > WIN:
                break
            order = pack((best, *(c for c in columns_in(order) if c != best)))
            work[HISTORY:MOVES] >>= 1
        return best, value + 0.0, int(work[NODES]), completed

    def _reply(self, after: Position, ply: int) -> int | None:
        """Return a forced reply, or the table's column; None if the table no longer has it."""
        mine, theirs = after.mine, after.theirs
        urgent = winning_moves(mine, theirs) or winning_moves(theirs, mine)
        for column in after.legal_columns():
            if urgent & drop(mine | theirs, column):
                return column
        key = table_key(mine, theirs, ply % 2 == 1, int(self._work[AGE]))
        entry = self._table[table_place(key, len(self._table))]
        return int(entry["column"]) if entry["key"] == key else None
