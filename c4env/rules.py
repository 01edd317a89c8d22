"""The bitboard layout, and the rules of the game on it: plain functions of integers.

One integer holds the discs of one side, seven bits per column::

     6 13 20 27 34 41 48    always empty: keeps columns apart
     5 12 19 26 33 40 47    top row
     4 11 18 25 32 39 46
     3 10 17 24 31 38 45
     2  9 16 23 30 37 44
     1  8 15 22 29 36 43
     0  7 14 21 28 35 42    bottom row

Bit ``7*column + height`` is the cell ``height`` (0..5, from the bottom) of ``column`` (0..6, from
the left). Neighbours are 1 (up), 7 (right), 8 (right and up) or 6 (right and down) bits apart;
``DIRECTIONS`` holds these distances. ``mine`` holds the discs of the side to move, ``theirs`` the
discs of the other side.

Nothing here is compiled, so that one game needs no compiler. ``c4env.bitboard`` compiles the same
functions for searches and for many boards. So no function here calls another, and every function
works on int64.

The numbers in this text are for 6x7x4; ``c4env.geometry`` has the size of each board.
"""

from __future__ import annotations

from typing import Final

from c4env.geometry import COLUMNS as COLUMNS
from c4env.geometry import CONNECT as CONNECT
from c4env.geometry import ROWS as ROWS

CELLS: Final = ROWS * COLUMNS
STRIDE: Final = ROWS + 1  # bits of a column
BITS: Final = COLUMNS * STRIDE  # bits of a board, the bit above each column included
UP: Final = 1
SIDEWAYS: Final = (STRIDE, STRIDE - 1, STRIDE + 1)  # right, right and down, right and up
DIRECTIONS: Final = (UP, *SIDEWAYS)

BOTTOM: Final = sum(1 << (STRIDE * column) for column in range(COLUMNS))
COLUMN: Final = (1 << ROWS) - 1  # the six cells of column 0
BOARD: Final = BOTTOM * COLUMN  # all 42 cells
ODD_ROWS: Final = sum(BOTTOM << row for row in range(0, ROWS, 2))  # rows count from 1 at the bottom
EVEN_ROWS: Final = BOARD ^ ODD_ROWS
TOP: Final = BOTTOM << (ROWS - 1)
COLUMN_MASKS: Final = tuple(COLUMN << (STRIDE * column) for column in range(COLUMNS))
MARKED_COLUMN: Final = (1 << STRIDE) - 1  # column 0 with the bit above it
CENTRE: Final = COLUMN << (STRIDE * (COLUMNS // 2)) | COLUMN << (STRIDE * ((COLUMNS - 1) // 2))
"""The middle column, or the two middle columns where the number of columns is even."""
CENTRE_FIRST: Final = tuple(sorted(range(COLUMNS), key=lambda c: abs(2 * c - (COLUMNS - 1))))
"""The columns by distance from the centre, left before right: 3 2 4 1 5 0 6."""
FROM_TOP: Final = tuple(STRIDE * c + h for h in reversed(range(ROWS)) for c in range(COLUMNS))
"""The bit of each cell, row by row from the top."""


def _doublings() -> tuple[int, ...]:
    steps, length = [], 1
    while length < CONNECT:
        steps.append(min(length, CONNECT - length))
        length += steps[-1]
    return tuple(steps)


DOUBLINGS: Final = _doublings()
"""Shifts, in cells, that combine discs into pairs, and pairs into fours."""

_STEPS: Final = (*DOUBLINGS, 0)[:3]  # the third, 0, changes nothing in lines of 3 or 4
UP_1, UP_2, UP_3 = _STEPS  # the steps in bits, for each direction
SIDE_1, SIDE_2, SIDE_3 = (step * SIDEWAYS[0] for step in _STEPS)
DOWN_1, DOWN_2, DOWN_3 = (step * SIDEWAYS[1] for step in _STEPS)
RISE_1, RISE_2, RISE_3 = (step * SIDEWAYS[2] for step in _STEPS)

_UNPAIRED: Final = MARKED_COLUMN << (STRIDE * (COLUMNS // 2)) if COLUMNS % 2 else 0
_PAIRS: Final = tuple(  # a column, and the distance to its mirror image
    (MARKED_COLUMN << (STRIDE * column), STRIDE * (COLUMNS - 1 - 2 * column))
    for column in range(COLUMNS // 2)
)

NO_COLUMN: Final = BOARD
"""Occupied cells that make a mask of columns all zeros."""
ANY_COLUMN: Final = 0
"""Occupied cells that make a mask of columns all ones."""


def has_won(discs: int) -> bool:
    """Return True if the discs contain four in a row."""
    lines = discs & discs >> UP_1  # first cells of lines of two discs
    lines &= lines >> UP_2  # then of four; a loop takes Python longer
    if lines and lines & lines >> UP_3:
        return True
    lines = discs & discs >> SIDE_1
    lines &= lines >> SIDE_2
    if lines and lines & lines >> SIDE_3:
        return True
    lines = discs & discs >> DOWN_1
    lines &= lines >> DOWN_2
    if lines and lines & lines >> DOWN_3:
        return True
    lines = discs & discs >> RISE_1
    lines &= lines >> RISE_2
    return (lines & lines >> RISE_3) != 0


def fours(discs: int) -> int:
    """Return the discs that are part of a line of four."""
    cells = 0
    for shift in DIRECTIONS:
        lines = discs
        for step in DOUBLINGS:
            lines &= lines >> (step * shift)
        for i in range(CONNECT):
            cells |= lines << (i * shift)
    return cells


def playable(occupied: int) -> int:
    """Return the cell where the next disc lands in each column that is not full."""
    return (occupied + BOTTOM) & BOARD


def drop(occupied: int, column: int) -> int:
    """Return the cell where the next disc in a column lands; 0 if the column is full."""
    return (occupied + BOTTOM) & (COLUMN << (STRIDE * column))


def winning_cells(discs: int) -> int:
    """Return the cells, occupied or not, that complete four in a row with three of the discs.

    In a column, only the cell above three discs counts, since all cells below are occupied.
    """
    cells = discs << 1
    for i in range(2, CONNECT):
        cells &= discs << i
    for shift in SIDEWAYS:
        for place in range(CONNECT):  # the cell's place in its line: xxx., xx.x, x.xx, .xxx
            before = after = -1  # all bits; a cell without the discs loses its bit
            for i in range(1, CONNECT - place):
                before &= discs << (i * shift)
            for i in range(1, place + 1):
                after &= discs >> (i * shift)
            cells |= before & after
    return cells & BOARD


def mirror(board: int) -> int:
    """Return the mirrored board: column 0 becomes column 6, with the bits above the columns too."""
    mirrored = board & _UNPAIRED
    for cells, distance in _PAIRS:
        mirrored |= (board & cells) << distance | (board >> distance) & cells
    return mirrored


def sign(score: int) -> int:
    """Return the sign of a score: 1 for a win, 0 for a draw, -1 for a loss."""
    return (score > 0) - (score < 0)


def is_consistent(mine: int, theirs: int, ahead: int) -> bool:
    """Return True if no disc floats, no discs overlap, and the disc counts fit the turn order.

    ``ahead`` is the number of discs that ``theirs`` has more than ``mine``.
    """
    occupied = mine | theirs
    if mine & theirs or occupied & ~BOARD:
        return False
    if occupied & ~((occupied << 1) | BOTTOM):
        return False
    return ahead == 0 or ahead == 1


def discs_at_end(plies: int, score: int) -> int:
    """Return the number of discs on the board when the game ends under perfect play.

    Args:
        plies: the number of discs on the board now.
        score: the exact score for the side to move; see :func:`win_score`.
    """
    if score == 0:
        return CELLS
    winner = plies % 2 if score > 0 else 1 - plies % 2
    last = CELLS + 2 - 2 * abs(score)  # or one disc less, whichever the winner plays
    return last - (last % 2 == winner)
