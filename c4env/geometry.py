"""The size of the board, and what a column is.

The first import reads the size from ``C4ENV_BOARD`` (:func:`c4env.use_board`).
"""

from __future__ import annotations

import importlib
import operator
import os
from typing import Final

from c4env.boards import STANDARD, VARIABLE, Size
from c4env.errors import InvalidAction, WrongBoard, is_boolean

BOARD_SIZE: Final = Size.parse(os.environ.get(VARIABLE) or str(STANDARD))
ROWS: Final[int] = BOARD_SIZE.rows
COLUMNS: Final[int] = BOARD_SIZE.columns
CONNECT: Final[int] = BOARD_SIZE.connect  # discs in a row that win

IS_STANDARD: Final[bool] = BOARD_SIZE == STANDARD
LINE_IN_WORDS: Final = ("three", "four", "five", "six", "seven", "eight")[CONNECT - 3]

DIGITS: Final = "123456789abcdef"[:COLUMNS]
"""The characters of the columns in move strings."""


def require_standard(what: str) -> None:
    """Raise an error unless this process plays on the standard board.

    Raises:
        WrongBoard: the process plays on another board; the message begins with ``what``.
    """
    if not IS_STANDARD:
        raise WrongBoard(f"{what} is made for {STANDARD}, not for {BOARD_SIZE}")


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
    """Return an integer of any type, but not a boolean, as a plain int."""
    try:
        if not is_boolean(value):
            return operator.index(value)  # type: ignore[arg-type]  # this is the check itself
    except TypeError:
        pass
    raise InvalidAction(f"{value!r} is not a column: expected an integer 0..{COLUMNS - 1}")


if not IS_STANDARD:  # gives Numba a separate cache of users' functions
    importlib.import_module("c4env.jit")
