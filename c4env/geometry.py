"""The size of the board, and what a column is.

:func:`c4env.board` loads this module, and the modules that import it, once for each size. Each
loaded copy of this module reads its size from ``__name__``.
"""

from __future__ import annotations

import operator
from typing import Final

from c4env.boards import STANDARD, size_of
from c4env.errors import InvalidAction

BOARD_SIZE: Final = size_of(__name__) or STANDARD
ROWS: Final[int] = BOARD_SIZE.rows
COLUMNS: Final[int] = BOARD_SIZE.columns
CONNECT: Final[int] = BOARD_SIZE.connect  # discs in a row that win

IS_STANDARD: Final[bool] = BOARD_SIZE == STANDARD
LINE_IN_WORDS: Final = ("three", "four", "five", "six", "seven", "eight")[CONNECT - 3]

DIGITS: Final = "123456789abcdef"[:COLUMNS]
"""The characters of the columns in move strings."""


def parse_column(value: object) -> int:
    """Return a column as a plain int.

    Raises:
        InvalidAction: the value is not an integer 0..6 (of Python or NumPy), or is a boolean.
    """
    column = value if type(value) is int else as_integer(value)
    if not 0 <= column < COLUMNS:
        raise InvalidAction(f"{value} is not a column: expected an integer 0..{COLUMNS - 1}")
    return column


def as_integer(value: object) -> int:
    """Return an integer of any type, but no boolean, as a plain int."""
    try:
        if not isinstance(value, bool):
            return operator.index(value)  # type: ignore[arg-type]  # this is the check itself
    except TypeError:
        pass
    raise InvalidAction(f"{value!r} is not a column: expected an integer 0..{COLUMNS - 1}")
