"""How large the board is.

These are the numbers of the usual board. For another one (:func:`c4env.board`) this module and
those that import it are loaded once more, with other numbers here.
"""

from __future__ import annotations

from typing import Final

from c4env.boards import STANDARD, Size

ROWS: Final[int] = 6
COLUMNS: Final[int] = 7
CONNECT: Final[int] = 4  # discs in a row that win

BOARD_SIZE: Final = Size(ROWS, COLUMNS, CONNECT)
IS_STANDARD: Final[bool] = BOARD_SIZE == STANDARD
LINE_IN_WORDS: Final = ("three", "four", "five", "six", "seven", "eight")[CONNECT - 3]

DIGITS: Final = "123456789abcdef"[:COLUMNS]
"""The columns as notation has them, one character each."""
