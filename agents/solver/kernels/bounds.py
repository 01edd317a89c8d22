"""Bounds on a score by parity, without a search.

Follow-up: a side that answers every disc with a disc on top gets every second cell of each column.
An answer always exists if the number of empty cells is even when the other side is to move. There
are two such plans:

- *claimeven*, for the second player (``even_claim``), who gets the cells of even rows, counted
  from 1, except cells that can be played at once;
- *odd threat*, for the first player (``odd_claim``), who has a winning cell on an odd row that
  cannot be reached yet. The second player does not play right below this cell. When only this
  cell and the cells above it are empty, the second player is to move. So the first player gets the
  even rows, and the odd rows in the threat's own column. If the first player is to move now, it
  begins with a waiting move, in the threat's column if an odd row is playable there.

The other side gets at most its discs and the remaining cells. If these contain no four, that
side does not win. If the claimer gets a winning cell, the game ends there: cells above stay empty.
"""

from __future__ import annotations

from typing import Final

from c4env.jit import kernel

from ....bitboard import BOARD, BOTTOM, ROWS, UP, has_won, popcount

EVEN_ROWS: Final = sum(BOTTOM << row for row in range(1, ROWS, 2))
ODD_ROWS: Final = sum(BOTTOM << row for row in range(0, ROWS, 2))
NO_CLAIM: Final = -1

_SENTINELS: Final = BOTTOM << ROWS  # the bits above the columns


@kernel("int64(int64)")
def upwards(cells: int) -> int:
    """Return the cells and all cells above them in their columns."""
    # Subtracting a column's lowest cell from the bit above the column sets all bits between.
    return (cells | (_SENTINELS - cells)) & BOARD


@kernel("int64(int64, int64, int64, int64, int64, int64)")
def claim(discs: int, wins: int, others: int, empty: int, claimed: int, need: int) -> int:
    """Return a lower bound of at least ``need`` on the score of a side, or ``NO_CLAIM``.

    The side secures the empty cells ``claimed`` by follow-up. ``wins`` are the cells, occupied or
    not, that complete a four of the side. The bound 0 means that the side does not lose.
    """
    sure = wins & claimed
    score = 0
    shut = 0
    if sure:
        # Play ends in one of the winning cells. Then all other cells from the lowest winning cell
        # of each column upwards are empty. The cell below each lowest winning cell is empty too,
        # except below the cell that wins.
        shut = upwards(sure)
        score = (popcount(shut) + popcount(sure & ~(shut << UP))) >> 1
    if score < need and (need > 1 or score > 0):
        return NO_CLAIM
    if has_won(others | (empty & ~claimed & ~shut)):
        return NO_CLAIM
    if score < need and not has_won(discs | claimed):
        return NO_CLAIM
    return max(score, need)


@kernel("int64(int64, int64, int64, int64, int64)")
def even_claim(second: int, wins: int, first: int, playable: int, need: int) -> int:
    """Return the second player's bound by claimeven (see :func:`claim`); the first is to move."""
    empty = BOARD & ~(first | second)
    return claim(second, wins, first, empty, empty & EVEN_ROWS & ~playable, need)


@kernel("int64(int64, int64, int64, int64, boolean, int64)")
def odd_claim(first: int, wins: int, second: int, playable: int, waits: bool, need: int) -> int:
    """Return the first player's bound, 1 or more, by one of its odd threats (see :func:`claim`).

    ``waits`` is True if the first player is to move, and so makes a waiting move.
    """
    empty = BOARD & ~(first | second)
    threats = wins & empty & ODD_ROWS & ~playable
    while threats:
        threat = threats & -threats
        threats ^= threat
        sentinel = _SENTINELS & -threat
        sentinel &= -sentinel
        column = sentinel - (sentinel >> ROWS)
        claimed = empty & ~playable & ((ODD_ROWS & column) | (EVEN_ROWS & ~column))
        if waits:
            claimed |= playable & ODD_ROWS & column
        score = claim(first, wins, second, empty, claimed, need)
        if score >= need:
            return score
    return NO_CLAIM
