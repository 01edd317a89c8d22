"""The bitboard layout, and kernels for moves and wins.

One int64 holds the discs of one side, seven bits a column::

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

The numbers in this text are for 6x7x4; ``c4env.geometry`` has the size of each board.
"""

from __future__ import annotations

from typing import Any, Final

from c4env.geometry import COLUMNS as COLUMNS
from c4env.geometry import CONNECT as CONNECT
from c4env.geometry import ROWS as ROWS
from c4env.jit import kernel

CELLS: Final = ROWS * COLUMNS
STRIDE: Final = ROWS + 1  # bits of a column
BITS: Final = COLUMNS * STRIDE  # bits of a board, the bit above each column included
UP: Final = 1
SIDEWAYS: Final = (STRIDE, STRIDE - 1, STRIDE + 1)  # right, right and down, right and up
DIRECTIONS: Final = (UP, *SIDEWAYS)

BOTTOM: Final = sum(1 << (STRIDE * column) for column in range(COLUMNS))
COLUMN: Final = (1 << ROWS) - 1  # the six cells of column 0
BOARD: Final = BOTTOM * COLUMN  # all 42 cells
TOP: Final = BOTTOM << (ROWS - 1)
MARKED_COLUMN: Final = (1 << STRIDE) - 1  # column 0 with the bit above it
CENTRE: Final = COLUMN << (STRIDE * (COLUMNS // 2)) | COLUMN << (STRIDE * ((COLUMNS - 1) // 2))
"""The middle column, or both where the number of columns is even."""
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
"""Shifts, in cells, by which :func:`has_won` combines discs to pairs, and pairs to fours."""

_UNPAIRED: Final = MARKED_COLUMN << (STRIDE * (COLUMNS // 2)) if COLUMNS % 2 else 0


@kernel("int64(int64)")
def popcount(bits: int) -> int:
    """Return the number of set bits; the loop compiles to one machine instruction."""
    count = 0
    while bits:
        bits &= bits - 1
        count += 1
    return count


@kernel("boolean(int64)")
def has_won(discs: int) -> bool:
    """Return True if the discs contain four in a row."""
    for shift in DIRECTIONS:
        lines = discs  # first cells of lines of one disc, then of two, then of four
        for step in DOUBLINGS:
            lines &= lines >> (step * shift)
        if lines:
            return True
    return False


@kernel("int64(int64)")
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


@kernel("int64(int64)")
def playable(occupied: int) -> int:
    """Return the cell where the next disc lands in each column that is not full."""
    return (occupied + BOTTOM) & BOARD


@kernel("int64(int64, int64)")
def drop(occupied: int, column: int) -> int:
    """Return the cell where the next disc in a column lands; 0 if the column is full."""
    return (occupied + BOTTOM) & (COLUMN << (STRIDE * column))


@kernel("int64(int64)")
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


@kernel("int64(int64, int64)")
def winning_moves(mine: int, theirs: int) -> int:
    """Return the playable cells that complete four in a row for ``mine``."""
    return winning_cells(mine) & playable(mine | theirs)


# Numba inlines the source: in a separate function, the branches become conditional moves, which
# slow the solver's inner loop by a tenth.
@kernel("int64(int64, int64)", inline="always")
def safe_moves(moves: int, their_wins: int) -> int:
    """Return the moves after which the other side cannot win with its next disc; 0 if none.

    Args:
        moves: the playable cells.
        their_wins: the cells, occupied or not, that win for the other side.
    """
    safe = moves & ~(their_wins >> 1)  # not right below a cell they win with
    forced = their_wins & moves
    if forced:
        safe &= forced
        if forced & (forced - 1):  # two threats cannot both be answered
            safe = 0
    return safe


@kernel("int64(int64)")
def win_score(plies: int) -> int:
    """Return the exact score of a win by disc number ``plies``: the winner's unused discs plus 1.

    A loss has the negative score; see ``c4env.agents.solver.Solver``.
    """
    return (CELLS + 2 - plies) >> 1


@kernel("int64(int64)")
def mirror(board: int) -> int:
    """Return the mirrored board: column 0 becomes column 6, with the bits above the columns too."""
    mirrored = board & _UNPAIRED
    for column in range(COLUMNS // 2):
        cells = MARKED_COLUMN << (STRIDE * column)
        distance = STRIDE * (COLUMNS - 1 - 2 * column)
        mirrored |= (board & cells) << distance | (board >> distance) & cells
    return mirrored


mirror_all: Any = getattr(mirror, "py_func", mirror)
""":func:`mirror` for an int64 array of boards; mirror's Python source also works on arrays."""


@kernel("boolean(int64, int64)")
def is_consistent(mine: int, theirs: int) -> bool:
    """Return True if no disc floats, no discs overlap, and the disc counts fit the turn order."""
    occupied = mine | theirs
    if mine & theirs or occupied & ~BOARD:
        return False
    if occupied & ~((occupied << 1) | BOTTOM):
        return False
    ahead = popcount(theirs) - popcount(mine)
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
