"""Iterative-deepening alpha-beta within a time or node budget.

The search has a transposition table, orders moves by the table's column, killers and history, and
searches all columns after the first with null windows (principal variation search). Forced replies
do not count as depth, which serves as a quiescence search.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Final, NamedTuple

import numpy as np
from numba import from_dtype, types
from numpy.typing import NDArray

from c4env.agents.search.threads import LIMIT, NEVER, NODES, STOP_NOW, WORDS, search_interruptibly
from c4env.arrays import Int64s
from c4env.jit import kernel

from ...bitboard import (
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
from ...position import Position
from ..base import SearchingAgent, SearchResult, derived, require_move
from ..heuristics.names import WIN, Heuristic, as_argument, is_deterministic, load, not_a_value
from ..options import HeuristicName, Megabytes, Movetime, Plies, Positions, validate_args
from .fixed_depth import INFINITY, INVALID, leaf
from .lowlevel import CENTRE_FIRST, COLUMN_BITS, board_key, column_at, columns_in, pack, pointer

DEFAULT_NODES: Final = 200_000
_QUICK: Final = 500_000  # a search of more nodes (tenths of a second) runs in a thread

# Words of a workspace, besides the words of ``c4env.agents.search.threads``.
AGE: Final = 2  # the table's age; entries of another age count as empty
INVALID_VALUE: Final = 3  # 1 once an unusable heuristic value stops the search
KILLERS: Final = WORDS  # [CELLS + 1] the last column that caused a cutoff at this ply, plus one
HISTORY: Final = KILLERS + CELLS + 1  # [2, BITS] a cell's cutoffs for either side, weighted
RANKS: Final = HISTORY + 2 * BITS  # [COLUMNS] ranks of the columns being sorted
WORKSPACE: Final = RANKS + COLUMNS

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
VIEW_SHIFT: Final = BITS  # bit of the key above the position: the side of the entry's view
AGE_SHIFT: Final = VIEW_SHIFT + 1
LAST_AGE: Final = (1 << 12) - 1

# Parts of a move's rank, besides its history.
TABLE: Final = 1 << 40
KILLER: Final = 1 << 10
THREAT: Final = 1 << 14

NULL_WINDOW: Final = 1e-6  # width of a null window; closer values count as equal

# Types of values in the table.
EXACT: Final = 1
LOWER: Final = 2  # the value is a lower bound
UPPER: Final = 3

_SPREAD: Final = 0x9E3779B97F4A7  # an odd factor, which spreads keys over a table
_SPREAD_SHIFT: Final = 20  # the lower bits of the product are the least mixed

_int64, _float64, _bool = types.int64, types.float64, types.boolean
_heuristic = types.FunctionType(_float64(_int64, _int64))
_words = types.int64[::1]
_table: Any = from_dtype(ENTRY)[::1]


class Search(NamedTuple):
    """What every node of a search needs."""

    heuristic: Heuristic
    work: Any  # a pointer to the workspace


_search = types.NamedTuple((_heuristic, types.CPointer(_int64)), Search)


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
    return ((key * _SPREAD) >> _SPREAD_SHIFT) & (entries - 1)


@kernel("boolean(int64, float64, float64, float64)")
def decides(bound: int, value: float, alpha: float, beta: float) -> bool:
    """Return True if a stored value or bound decides a search between alpha and beta."""
    return (
        bound == EXACT or (bound == LOWER and value >= beta) or (bound == UPPER and value <= alpha)
    )


@kernel(_float64(_int64, _int64, _int64, _float64, _float64, _bool, _search, _table))
def deepen(
    mine: int,
    theirs: int,
    depth: int,
    alpha: float,
    beta: float,
    searching: bool,
    search: Search,
    table: NDArray[np.void],
) -> float:
    """Return the value of an undecided board for the side to move (fail-soft).

    Heuristics take the agent's view; ``searching`` is True if the agent is to move. The result is
    meaningless once ``work[NODES]`` reaches ``work[LIMIT]``.
    """
    work = search.work
    if work[NODES] >= work[LIMIT]:
        return 0.0
    work[NODES] += 1
    taken = mine | theirs
    plies = popcount(taken)
    moves = playable(taken)
    if moves == 0:
        return 0.0
    if winning_cells(mine) & moves:
        return win_at(plies + 1)
    safe = safe_moves(moves, winning_cells(theirs))
    if safe == 0:
        return -win_at(plies + 2)
    if safe & (safe - 1) == 0:
        return -deepen(theirs, mine | safe, depth, -beta, -alpha, not searching, search, table)
    if depth <= 0:
        value, count = leaf(mine, theirs, searching, search.heuristic)
        if count == INVALID:
            work[INVALID_VALUE] = 1
            work[LIMIT] = STOP_NOW
        return float(value)
    # No side wins with either of the next two discs.
    if win_at(plies + 3) <= alpha:
        return win_at(plies + 3)
    if -win_at(plies + 4) >= beta:
        return -win_at(plies + 4)

    key = table_key(mine, theirs, searching, int(work[AGE]))
    entry = table[table_place(key, len(table))]
    first = -1  # the column in the table
    if entry["key"] == key:
        first = int(entry["column"])
        if entry["depth"] >= depth and decides(entry["bound"], entry["value"], alpha, beta):
            return float(entry["value"])
    # The columns by falling rank, packed, the best in the lowest bits.
    history = HISTORY + (plies & 1) * BITS
    order = count = 0
    for i in range(COLUMNS):
        column = column_at(CENTRE_FIRST, i)
        cell = safe & (COLUMN << (STRIDE * column))
        if cell == 0:
            continue
        rank = work[history + popcount(cell - 1)]
        if depth > 1:  # the replies are not leaves
            rank += THREAT * popcount(winning_cells(mine | cell) & ~taken)
        if work[KILLERS + plies] == column + 1:
            rank += KILLER
        if column == first:
            rank += TABLE
        work[RANKS + column] = rank
        at = 0
        while at < count and work[RANKS + column_at(order, at)] >= rank:
            at += 1
        before = order & ((1 << (COLUMN_BITS * at)) - 1)
        order = before | (column << (COLUMN_BITS * at)) | ((order ^ before) << COLUMN_BITS)
        count += 1

    replying = not searching
    best, chosen, floor = -INFINITY, -1, alpha
    for i in range(count):
        column = column_at(order, i)
        cell = safe & (COLUMN << (STRIDE * column))
        after = mine | cell
        null = -floor - NULL_WINDOW
        value = floor
        if i > 0:
            value = -deepen(theirs, after, depth - 1, null, -floor, replying, search, table)
        if i == 0 or floor < value < beta:
            value = -deepen(theirs, after, depth - 1, -beta, -floor, replying, search, table)
        if work[NODES] >= work[LIMIT]:
            return 0.0
        if value > best:
            best, chosen = value, column
            floor = max(floor, best)
            if floor >= beta:
                work[KILLERS + plies] = column + 1
                work[history + popcount(cell - 1)] += depth * depth
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
    heuristic: Heuristic,
    work: Int64s,
    table: NDArray[np.void],
) -> tuple[int, float]:
    """Return the best column at a depth, and its value for the side to move.

    The packed ``order`` gives the order of columns; the first of equal columns stays. If the search
    was stopped, the result is the best column searched so far, or -1 if there is none.
    """
    taken = mine | theirs
    search = Search(heuristic, pointer(work))
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
            value = -deepen(theirs, after, depth - 1, null, -best, False, search, table)
        if chosen < 0 or value > best:
            value = -deepen(theirs, after, depth - 1, -INFINITY, -best, False, search, table)
        if work[NODES] >= work[LIMIT]:
            break
        if value > best:
            best, chosen = value, column
    return chosen, best


class Deepening(SearchingAgent):
    """Plays by iterative-deepening alpha-beta within a time or node budget.

    Args:
        nodes: positions for each move (200000 without another budget).
        depth: plies looked ahead at most. The agent's own move is included.
        table_mb: memory of the table. It is allocated when first needed.
    """

    deterministic = derived(lambda agent: agent.movetime is None and agent._repeats)

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
        self._heuristic_name = heuristic
        function = load(heuristic)
        self._heuristic = as_argument(function)
        self._repeats = is_deterministic(function)
        self._work = np.zeros(WORKSPACE, np.int64)
        self._table = np.zeros(0, ENTRY)

    def close(self) -> None:
        """Give the table's memory back, until the next search."""
        self._table = np.zeros(0, ENTRY)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state of a copy, which allocates a table of its own."""
        return vars(self) | {"_table": np.zeros(0, ENTRY), "_work": np.zeros_like(self._work)}

    def search(self, position: Position) -> SearchResult:
        """Return the chosen column, its value, the completed depth and the principal variation.

        The principal variation ends at the first position that the table no longer has.
        """
        require_move(position)
        self._begin()
        quick = self.movetime is None and self.limit is not None and self.limit <= _QUICK
        found = search_interruptibly(
            lambda _: self._iterate(position), self._work, self.movetime, quick
        )
        line = self._line(position, found.column, max(found.depth, 1))
        return dataclasses.replace(found, principal_variation=line)

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

    def _iterate(self, position: Position) -> SearchResult:
        """Search with increasing depth until the budget is used; return no principal variation."""
        work = self._work
        columns = position.legal_columns()
        order = CENTRE_FIRST
        best = next(c for c in columns_in(order) if c in columns)
        value, completed = 0.0, 0
        for depth in range(1, min(self.depth, CELLS - position.plies) + 1):
            column, found = best_at_depth(
                position.mine, position.theirs, depth, order, self._heuristic, work, self._table
            )
            if column >= 0:  # valid at an unfinished depth too: the last best came first
                best, value = column, found
            if work[NODES] >= work[LIMIT]:
                break
            completed = depth
            if abs(value) > WIN:
                break
            order = pack((best, *(c for c in columns_in(order) if c != best)))
            work[HISTORY:RANKS] >>= 1
        if work[INVALID_VALUE]:
            raise not_a_value(self._heuristic_name)
        return SearchResult(best, value + 0.0, int(work[NODES]), completed, ())

    def _line(self, position: Position, column: int, depth: int) -> tuple[int, ...]:
        """Return the line of play after a column, read from the table, with forced replies."""
        line = [column]
        position = position.play(column)
        while position.outcome is None and len(line) < depth:
            column = self._known(position, searching=len(line) % 2 == 0)
            if column < 0:
                break
            line.append(column)
            position = position.play(column)
        return tuple(line)

    def _known(self, position: Position, searching: bool) -> int:
        """Return the column that the search chose in a position; -1 if unknown."""
        mine, theirs = position.mine, position.theirs
        urgent = winning_moves(mine, theirs) or winning_moves(theirs, mine)
        for column in position.legal_columns():
            if urgent & drop(mine | theirs, column):
                return column
        key = table_key(mine, theirs, searching, int(self._work[AGE]))
        entry = self._table[table_place(key, len(self._table))]
        return int(entry["column"]) if entry["key"] == key else -1
