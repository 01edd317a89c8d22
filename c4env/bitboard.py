"""Kernels for moves and wins: the functions of ``c4env.rules``, compiled, and a few more.

``c4env.rules`` explains the layout, its numbers and the rules. A board is int64 here, and
``mine`` holds the discs of the side to move, ``theirs`` the discs of the other side.
"""

from __future__ import annotations

from typing import Any

from c4env import rules
from c4env.geometry import COLUMNS, CONNECT, ROWS
from c4env.jit import kernel
from c4env.rules import (
    BITS,
    BOARD,
    BOTTOM,
    CELLS,
    CENTRE,
    CENTRE_FIRST,
    COLUMN,
    DIRECTIONS,
    DOUBLINGS,
    FROM_TOP,
    MARKED_COLUMN,
    SIDEWAYS,
    STRIDE,
    TOP,
    UP,
    discs_at_end,
)

__all__ = [
    "BITS", "BOARD", "BOTTOM", "CELLS", "CENTRE", "CENTRE_FIRST", "COLUMN", "COLUMNS", "CONNECT",
    "DIRECTIONS", "DOUBLINGS", "FROM_TOP", "MARKED_COLUMN", "ROWS", "SIDEWAYS", "STRIDE", "TOP",
    "UP", "discs_at_end", "drop", "fours", "has_won", "is_consistent", "mirror", "mirror_all",
    "playable", "popcount", "safe_moves", "sign", "win_score", "winning_cells", "winning_moves",
]  # fmt: skip

has_won = kernel("boolean(int64)")(rules.has_won)
fours = kernel("int64(int64)")(rules.fours)
playable = kernel("int64(int64)")(rules.playable)
drop = kernel("int64(int64, int64)")(rules.drop)
winning_cells = kernel("int64(int64)")(rules.winning_cells)
mirror = kernel("int64(int64)")(rules.mirror)
sign = kernel("int64(int64)")(rules.sign)
is_consistent = kernel("boolean(int64, int64, int64)")(rules.is_consistent)

mirror_all: Any = rules.mirror
""":func:`mirror` for an int64 array of boards; the Python source works on arrays too."""


@kernel("int64(int64)")
def popcount(bits: int) -> int:
    """Return the number of set bits; the loop compiles to one machine instruction."""
    count = 0
    while bits:
        bits &= bits - 1
        count += 1
    return count


@kernel("int64(int64, int64)")
def winning_moves(mine: int, theirs: int) -> int:
    """Return the playable cells that complete four in a row for ``mine``."""
    return winning_cells(mine) & playable(mine | theirs)


# Numba inlines the source: in a separate function, the branches become conditional moves, which
# slow the solver's inner loop by a tenth.
@kernel("int64(int64, int64)", inline="always")
def safe_moves(moves: int, their_wins: int) -> int:
    """Return the moves after which the other side cannot win with its next disc; 0: no move.

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
