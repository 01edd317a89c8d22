"""Read the 12-ply book of the package ``bitbully-databases`` (MIT licence).

The book has the positions of exactly 12 discs in which the side to move has no immediate win. Of a
position and its mirror image the book has only one, which may be either. An entry has a code of 4
bytes (big-endian, signed) and a result of one byte. Entries are in ascending order of codes. The
code lists the columns from the left and each column from the bottom: bits ``10`` for a disc of the
side to move, ``11`` for a disc of the other side, ``0`` at the end of a column, and one final
``0``. The result is 0 for a draw, else 100 minus the number of plies to the end of the game. The
result is negative if the side to move loses.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from c4env.agents.solver.book import Book
from c4env.agents.solver.enumeration import find
from c4env.arrays import Int8s
from c4env.bitboard import CELLS, COLUMNS, STRIDE, mirror, playable, win_score, winning_moves
from c4env.errors import MissingExtra
from c4env.jit import kernel
from c4env.lazy import EXTRAS
from c4env.position import Position, require_position

PLIES: Final = 12
NOT_STORED: Final = 99

_RECORD: Final = np.dtype([("code", ">i4"), ("end", "i1")])


@kernel("int64(int64, int64)")
def code(mine: int, theirs: int) -> int:
    """Return the code of a position, without mirroring the position."""
    bits = 0
    for column in range(COLUMNS):
        cell = 1 << (STRIDE * column)
        while (mine | theirs) & cell:
            bits = bits << 2 | (2 if mine & cell else 3)
            cell <<= 1
        bits <<= 1
    bits <<= 1
    return bits - (1 << 32) if bits >> 31 else bits


@kernel("int64(int32[::1], int8[::1], int64, int64, int64)")
def resolve(codes: NDArray[np.int32], ends: Int8s, mine: int, theirs: int, plies: int) -> int:
    """Return the score of an unfinished position of at most 12 discs, or ``NOT_STORED``."""
    if winning_moves(mine, theirs):
        return win_score(plies + 1)
    if plies == PLIES:
        index = find(codes, code(mine, theirs))
        if index < 0:
            index = find(codes, code(mirror(mine), mirror(theirs)))
        if index < 0:
            return NOT_STORED
        end = int(ends[index])
        if end == 0:
            return 0
        score = win_score(PLIES + 100 - abs(end))
        return score if end > 0 else -score
    best = -CELLS
    moves = playable(mine | theirs)
    while moves:
        cell = moves & -moves
        moves ^= cell
        score = resolve(codes, ends, theirs, mine | cell, plies + 1)
        if score == NOT_STORED:
            return NOT_STORED
        best = max(best, -score)
    return best


class TwelvePlyBook(Book):
    """The 12-ply book of ``bitbully-databases``, combined with a book for fewer plies.

    ``distances`` has the codes and the result bytes of the entries.

    Raises:
        MissingExtra: the package is not installed.
    """

    def __init__(self, below: Book) -> None:
        """Combine the installed book with a book for fewer plies."""
        spec = importlib.util.find_spec("bitbully_databases")
        file = Path((spec and spec.origin) or "bitbully_databases/__init__.py")
        try:
            records = np.fromfile(file.parent / "assets/book_12ply_distances.dat", dtype=_RECORD)
        except OSError as error:
            raise MissingExtra(
                f"book '12ply' needs the package bitbully-databases ({error}): "
                f"pip install {EXTRAS['book']}"
            ) from None
        self.plies = PLIES
        self.name = "12ply"
        self._below = below
        self.distances = records["code"].astype(np.int32), np.ascontiguousarray(records["end"])

    def score(self, position: Position) -> int | None:
        """Return the score of an unfinished position; see :meth:`Book.score`."""
        require_position(position)
        if position.plies > self.plies:
            return None
        if position.plies <= self._below.plies:
            return self._below.score(position)
        score = resolve(*self.distances, position.mine, position.theirs, position.plies)
        return None if score == NOT_STORED else score
