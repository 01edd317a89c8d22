"""Bounds on a score from what parity gives a side, without search.

Follow-up: a side that answers every disc by one on top of it gets every second cell of
each column. While the other side is to move and the cells to be shared out are even in
number, it always has such an answer. Two plans come of it:

- *even claim*, for the second player: it gets the cells of even rows (counted from 1), save
  those that can be played at once;
- *odd threat*, for the first player: it has a winning cell on an odd row that cannot be
  reached yet. The second player will not play right below it, and without that cell and
  those above, the board runs out with the second player to move. So the first player
  gets the even rows, and in the threat's own column the odd ones. When it is its turn, it
  first makes one waiting move, in the threat's column if an odd row is playable there.

The other side gets at most its discs and all cells left over; if those hold no four, it does
not win. Cells above a winning cell the claimer gets are never reached at all.
"""

from __future__ import annotations

__any_board__ = True

from typing import Final

from c4env.bitboard import BOARD, BOTTOM, ROWS, UP, has_won, popcount
from c4env.jit import kernel

EVEN_ROWS: Final = sum(BOTTOM << row for row in range(1, ROWS, 2))
ODD_ROWS: Final = sum(BOTTOM << row for row in range(0, ROWS, 2))
NO_CLAIM: Final = -1

_SENTINELS: Final = BOTTOM << ROWS  # the bits above the columns


@kernel("int64(int64)")
def upwards(cells: int) -> int:
    """The cells and all above them in their columns."""
    # Taken from the bit above its column, a column's lowest cell sets all bits from there up.
    return (cells | (_SENTINELS - cells)) & BOARD


@kernel("int64(int64, int64, int64, int64, int64, int64)")
def claim(discs: int, wins: int, others: int, empty: int, claimed: int, need: int) -> int:
    """Lower bound for a side that answers on top and so secures these cells.

    Args:
        discs: those of the side.
        wins: cells, occupied or not, that complete one of its fours.
        others: discs of the other side.
        empty: the empty cells.
        claimed: those of them that the side secures.
        need: the least bound that is of use.

    Returns:
        a lower bound of the side's score, at least ``need`` (0: it does not lose), or
        ``NO_CLAIM``.
    """
    sure = wins & claimed
    score = 0
    shut = 0
    if sure:
        # Play ends below one of the winning cells. All cells from the lowest of each
        # column upwards are empty then, less the one that wins, and below each of
        # the lowest but one another, which nobody played.
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
    """:func:`claim` of the second player when the first is to move."""
    empty = BOARD & ~(first | second)
    return claim(second, wins, first, empty, empty & EVEN_ROWS & ~playable, need)


@kernel("int64(int64, int64, int64, int64, boolean, int64)")
def odd_claim(first: int, wins: int, second: int, playable: int, waits: bool, need: int) -> int:
    """:func:`claim` of the first player by one of its odd threats, whoever is to move.

    Args:
        first: its discs.
        wins: its winning cells.
        second: the second player's discs.
        playable: the cells a disc can be dropped on now.
        waits: the first player is to move, and makes a waiting move.
        need: the least bound that is of use, 1 or more.
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
