"""Packed integers: column orders, position keys, and bound types of table entries.

The layouts depend on the size of the board.
"""

from __future__ import annotations

from typing import Final

from c4env.jit import kernel

from ... import bitboard
from ...bitboard import BOTTOM, COLUMNS

COLUMN_BITS: Final = COLUMNS.bit_length()
COLUMN_MASK: Final = (1 << COLUMN_BITS) - 1

# Types of values in a table.
EXACT: Final = 1
LOWER: Final = 2  # the value is a lower bound
UPPER: Final = 3
BOUND_BITS: Final = 2

_SPREAD: Final = 0x9E3779B97F4A7  # an odd factor, which spreads keys over a table
_SPREAD_SHIFT: Final = 20  # the lower bits of the product are the least mixed


def pack(columns: tuple[int, ...]) -> int:
    """Pack columns into an integer, COLUMN_BITS bits each; the first has the lowest bits."""
    return sum(column << (COLUMN_BITS * place) for place, column in enumerate(columns))


def columns_in(order: int) -> tuple[int, ...]:
    """Return the columns of a packed order; the inverse of :func:`pack`."""
    return tuple(column_at(order, place) for place in range(COLUMNS))


@kernel("int64(int64, int64)")
def column_at(order: int, place: int) -> int:
    """Return the column at an index of a packed order."""
    return (order >> (COLUMN_BITS * place)) & COLUMN_MASK


LEFT_TO_RIGHT: Final = pack(tuple(range(COLUMNS)))
CENTRE_FIRST: Final = pack(bitboard.CENTRE_FIRST)


@kernel("int64(int64, int64)")
def board_key(mine: int, theirs: int) -> int:
    """Return a number of ``c4env.bitboard.BITS`` bits that identifies the position.

    In each column the bit above the top disc is set; the bits below are the discs of ``mine``.
    """
    return mine + (mine | theirs) + BOTTOM


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


@kernel("int64(float64, float64, float64)")
def bound_of(value: float, alpha: float, beta: float) -> int:
    """Return the type of a value from a search between alpha and beta: EXACT, LOWER or UPPER."""
    if value >= beta:
        return LOWER
    return EXACT if value > alpha else UPPER
