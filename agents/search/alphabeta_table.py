"""Alpha-beta with threats tried first and a transposition table: the same choice, sooner.

Values are those of naive minimax, so the chosen column is the same for every heuristic;
what changes is the number of nodes. For how much, run ``c4 experiment pruning``.
"""

from __future__ import annotations

from typing import ClassVar, Final

import numpy as np
from numba import types
from numpy.typing import NDArray

from agents.search.fixed_depth import CHAIN_RULES, INFINITY, FixedDepth, leaf
from agents.search.heuristics import Heuristic
from c4env.bitboard import (
    BOTTOM,
    COLUMN,
    COLUMNS,
    STRIDE,
    drop,
    has_won,
    playable,
    popcount,
    winning_cells,
)
from c4env.jit import HEURISTIC, kernel

ENTRIES: Final = 1 << 20  # of the table, 16 bytes each
AGE_SHIFT: Final = 57  # of a key: the search it belongs to, six bits above position and depth
LAST_AGE: Final = 63
EXACT: Final = 1
LOWER: Final = 2  # the value is a lower bound
UPPER: Final = 3
MULTIPLIER: Final = 0x9E3779B97F4A7  # odd, spreads keys over the table

_words = types.int64[::1]
_values = types.float64[::1]


@kernel("int64(int64, int64)")
def position_key(mine: int, theirs: int) -> int:
    """49 bits that name a position: the bit above each column's top disc, and ``mine`` below."""
    return mine + (mine | theirs) + BOTTOM


@kernel(
    types.Tuple((types.float64, types.int64))(  # type: ignore[no-untyped-call]  # Numba's
        *(types.int64, types.int64, types.int64, types.float64, types.float64),
        *(types.boolean, HEURISTIC, types.float64, types.int64, _words, _values),
    )
)
def ordered(
    mine: int,
    theirs: int,
    depth: int,
    alpha: float,
    beta: float,
    searching: bool,
    heuristic: Heuristic,
    win: float,
    age: int,
    keys: NDArray[np.int64],
    values: NDArray[np.float64],
) -> tuple[float, int]:
    """As :func:`agents.search.fixed_depth.minimax` with pruning, under the chain system's rules.

    Args:
        age: this search's number at AGE_SHIFT; entries of another are not used.
        keys: [ENTRIES] ``age | position << 8 | depth << 2 | bound``, 0 where empty.
        values: [ENTRIES] the value or bound that goes with the key.
    """
    if has_won(theirs):
        return -win, 1
    moves = playable(mine | theirs)
    if depth == 0 or moves == 0:
        return leaf(mine, theirs, searching, heuristic)
    key = age | (position_key(mine, theirs) << 8) | (depth << 2)
    place = ((key * MULTIPLIER) >> 20) & (ENTRIES - 1)
    if depth > 1 and keys[place] & ~3 == key:
        bound = keys[place] & 3
        known = values[place]
        if (
            bound == EXACT
            or (bound == LOWER and known >= beta)
            or (bound == UPPER and known <= alpha)
        ):
            return known, 1
    # Each column's rank, eight bits a column: threats after the move, then nearness to the
    # centre; 255 for a win and 0 for a full column.
    ranks = 0
    taken = mine | theirs
    for column in range(COLUMNS):
        cell = moves & (COLUMN << (STRIDE * column))
        if cell:
            rank = 4 - abs(column - COLUMNS // 2)
            if depth > 1:
                threats = winning_cells(mine | cell) & ~taken
                rank = 255 if has_won(mine | cell) else rank + 8 * popcount(threats)
            ranks |= rank << (8 * column)
    best = -INFINITY
    first_alpha = alpha
    nodes = 1
    for _ in range(COLUMNS):
        chosen, rank = -1, 0
        for column in range(COLUMNS):
            if (ranks >> (8 * column)) & 255 > rank:
                chosen, rank = column, (ranks >> (8 * column)) & 255
        if chosen < 0:
            break
        ranks &= ~(255 << (8 * chosen))
        cell = moves & (COLUMN << (STRIDE * chosen))
        value, searched = ordered(
            *(theirs, mine | cell, depth - 1, -beta, -alpha, not searching),
            *(heuristic, win, age, keys, values),
        )
        nodes += searched
        best = max(best, -value)
        alpha = max(alpha, best)
        if alpha >= beta:
            break
    if depth > 1:
        bound = LOWER if best >= beta else (EXACT if best > first_alpha else UPPER)
        keys[place] = key | bound
        values[place] = best
    return best, nodes


@kernel(
    types.Tuple((types.int64, types.float64, types.int64))(  # type: ignore[no-untyped-call]  # Numba's
        *(types.int64, types.int64, types.int64, types.boolean, HEURISTIC, types.float64),
        *(types.int64, types.int64, _words, _values),
    )
)
def best_column(
    mine: int,
    theirs: int,
    depth: int,
    searching: bool,
    heuristic: Heuristic,
    win: float,
    order: int,
    age: int,
    keys: NDArray[np.int64],
    values: NDArray[np.float64],
) -> tuple[int, float, int]:
    """First best column in ``order``, its value for the side to move, nodes below the root.

    A column is searched with the best value so far as the limit: one that only equals it
    fails low, and the first of equals stays chosen.
    """
    best, chosen, nodes = -INFINITY, -1, 0
    for place in range(COLUMNS):
        column = (order >> (3 * place)) & 7
        cell = drop(mine | theirs, column)
        if cell:
            value, searched = ordered(
                *(theirs, mine | cell, depth - 1, -INFINITY, -best, not searching),
                *(heuristic, win, age, keys, values),
            )
            nodes += searched
            if -value > best:
                best, chosen = -value, column
    return chosen, best, nodes


class Ordered(FixedDepth):
    """Alpha-beta with threat ordering and a transposition table, any heuristic."""

    prune: ClassVar[bool] = True

    def __init__(self, depth: int = 9, heuristic: str | Heuristic = "chain") -> None:
        super().__init__(depth, heuristic, CHAIN_RULES)
        self._keys = np.zeros(ENTRIES, np.int64)
        self._values = np.zeros(ENTRIES, np.float64)
        self._age = 0

    def _best(
        self, mine: int, theirs: int, depth: int, searching: bool, order: int
    ) -> tuple[int, float, int]:
        # Entries hold for one point of view, so each choice begins without any.
        self._age += 1
        if self._age > LAST_AGE:
            self._keys[:] = 0
            self._age = 1
        column, value, nodes = best_column(
            *(mine, theirs, depth, searching, self._heuristic, self.rules.win),
            *(order, self._age << AGE_SHIFT, self._keys, self._values),
        )
        return self._checked(column, value, nodes)
