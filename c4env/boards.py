"""The size of the board: a setting of the process, from the environment variable ``C4ENV_BOARD``.

``c4env.geometry`` reads the variable when it is first imported. So the size is a compile-time
constant, and processes that this process starts play on the same board.
"""

from __future__ import annotations

import operator
import os
import re
import sys
from typing import Any, Final, NamedTuple, Self

from c4env.errors import InvalidOption, WrongOrder, is_boolean

VARIABLE: Final = "C4ENV_BOARD"
MOST_BITS: Final = 63  # bits of an int64 for a board; a column has rows + 1 bits
MOST_COLUMNS: Final = 15  # columns are written 1 to 9, then a to f
LONGEST: Final = 8  # discs in a line; the shift between its ends must be less than 64


class Size(NamedTuple):
    """The size of a board; ``str(size)`` has the form ``5x6x4``."""

    rows: int
    columns: int
    connect: int  # discs in a row that win

    def __str__(self) -> str:
        return f"{self.rows}x{self.columns}x{self.connect}"

    @classmethod
    def of(cls, rows: Any, columns: Any, connect: Any) -> Self:
        """Check three numbers and return them as a size.

        Raises:
            InvalidOption: a number is not an integer, or no board has that size.
        """
        numbers = (rows, columns, connect)
        try:
            if any(is_boolean(number) for number in numbers):
                raise TypeError
            size = cls(*map(operator.index, numbers))
        except TypeError:
            raise InvalidOption(f"board {numbers}: expected three integers") from None
        fits = size.rows >= 2 and size.columns * (size.rows + 1) <= MOST_BITS
        if not fits or not 3 <= size.connect <= min(size.columns, LONGEST):
            raise InvalidOption(
                f"board {size}: expected 2 rows or more, columns * (rows + 1) of at most "
                f"{MOST_BITS}, and lines of 3 to {LONGEST} discs, no longer than a row"
            )
        if size.columns > MOST_COLUMNS:
            raise InvalidOption(f"board {size}: expected at most {MOST_COLUMNS} columns")
        return size

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a size such as ``5x6x4``: rows, columns, discs in a row that win.

        Raises:
            InvalidOption: the text is not a size, or no board has that size.
        """
        if not re.fullmatch(r"\d{1,3}x\d{1,3}x\d{1,3}", text):
            raise InvalidOption(f"board {text!r}: expected ROWSxCOLUMNSxLINE, as in 6x7x4 or 5x6x4")
        return cls.of(*map(int, text.split("x")))


STANDARD: Final = Size(6, 7, 4)


def use_board(size: str | tuple[int, int, int]) -> None:
    """Choose the board size of this process and its child processes; call it first.

    Args:
        size: rows, columns and the discs in a row that win, as ``"5x6x4"`` or ``(5, 6, 4)``. There
            are 2 rows or more, at most 15 columns, ``columns * (rows + 1)`` is at most 63, and a
            line has 3 to 8 discs. Move strings write the columns as 1 to 9, then a to f.

    Raises:
        InvalidOption: no board has that size.
        WrongOrder: this process already has another board.

    Example:
        >>> use_board("6x7x4")
    """
    try:
        chosen = Size.parse(size) if isinstance(size, str) else Size.of(*size)
    except TypeError:
        raise InvalidOption(f"board {size!r}: expected a size such as 5x6x4") from None
    geometry = sys.modules.get("c4env.geometry")
    if geometry is not None and chosen != geometry.BOARD_SIZE:
        raise WrongOrder(
            f"this process plays on {geometry.BOARD_SIZE}: expected use_board({str(chosen)!r}) "
            f"before the first use of c4env, or {VARIABLE}={chosen} in the environment"
        )
    os.environ[VARIABLE] = str(chosen)
