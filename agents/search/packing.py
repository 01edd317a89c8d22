"""Packed integers: column orders and position keys.

The layouts depend on the size of the board.
"""

from __future__ import annotations

from typing import Final

from c4env.jit import kernel

from ... import bitboard
from ...bitboard import BOTTOM, COLUMNS

COLUMN_BITS: Final = COLUMNS.bit_length()
COLUMN_MASK: Final = (1 << COLUMN_BITS) - 1


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
