"""The size of the board.

:func:`c4env.board` loads this module, and the modules that import it, once for each size. Each
loaded copy of this module reads its size from ``__name__``.
"""

from __future__ import annotations

from typing import Final

from c4env.boards import STANDARD, size_of

BOARD_SIZE: Final = size_of(__name__) or STANDARD
ROWS: Final[int] = BOARD_SIZE.rows
COLUMNS: Final[int] = BOARD_SIZE.columns
CONNECT: Final[int] = BOARD_SIZE.connect  # discs in a row that win

IS_STANDARD: Final[bool] = BOARD_SIZE == STANDARD
LINE_IN_WORDS: Final = ("three", "four", "five", "six", "seven", "eight")[CONNECT - 3]

DIGITS: Final = "123456789abcdef"[:COLUMNS]
"""The characters of the columns in move strings."""
