"""Opening books: stored exact scores of early positions.

A book file, in NumPy's format ``.npz``, has the ``scores``, int8 ``[N]``, of all unfinished
positions of ``plies`` discs, but not the positions. A position and its mirror image have one score.
The scores are in ascending order of position keys
(:func:`c4env.agents.solver.table.position_key`). The reader enumerates the positions in
milliseconds and computes the scores of positions with fewer discs by minimax.
"""

from __future__ import annotations

import functools
import os
from importlib import resources
from typing import IO, Final

import numpy as np

from c4env.agents.solver import enumeration
from c4env.agents.solver.table import position_key
from c4env.arrays import Int8s, Int64s
from c4env.boards import STANDARD
from c4env.errors import InvalidOption
from c4env.files import write_whole
from c4env.geometry import IS_STANDARD, require_standard
from c4env.position import Position, require_position

DEFAULT_PLIES: Final = 8


class Book:
    """Exact scores of all unfinished positions of up to ``plies`` discs.

    Attributes:
        plies: the greatest number of discs of a position in the book.
        name: the book's file or package.
    """

    def __init__(self, scores: Int8s, plies: int, name: str = "") -> None:
        """Make a book from the scores of the positions of ``plies`` discs, by ascending key."""
        layers = enumeration.layers(plies)
        if len(scores) != len(layers[plies]):
            raise InvalidOption(
                f"{name or 'book'}: {len(scores)} scores, but {len(layers[plies])} "
                f"positions of {plies} plies"
            )
        self.plies = plies
        self.name = name
        self._keys = layers
        self._scores = enumeration.backed_up(layers, scores)

    def __repr__(self) -> str:
        return f"<Book {self.name or 'unnamed'}: {self.plies} plies>"

    def score(self, position: Position) -> int | None:
        """Return the score of an unfinished position; None if the book does not have it."""
        require_position(position)
        if position.plies > self.plies:
            return None
        key = position_key(position.mine, position.theirs)
        index = enumeration.find(self._keys[position.plies], key)
        # A board that is not in the book is unreachable.
        return None if index < 0 else int(self._scores[position.plies][index])

    @property
    def scores(self) -> Int8s:
        """The scores ``[N]`` of the positions of ``plies`` discs, by ascending key."""
        return self._scores[self.plies]

    @property
    def keys(self) -> Int64s:
        """The ascending keys ``[N]`` of the positions of ``plies`` discs."""
        return self._keys[self.plies]

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Book:
        """Read a book file; InvalidOption if it cannot be read or is not a book."""
        name = os.fspath(path)
        try:
            with open(path, "rb") as file, np.load(file, allow_pickle=False) as data:
                scores, plies = data["scores"].astype(np.int8), int(data["plies"])
        except OSError as error:
            raise InvalidOption(f"book {name!r}: {error.strerror}") from None
        except Exception:  # NumPy raises many kinds of errors for other files
            raise InvalidOption(f"{name}: not a book, or damaged") from None
        return cls(scores, plies, name)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the book to a file atomically."""

        def save(file: IO[bytes]) -> None:
            plies = np.int8(self.plies)
            np.savez_compressed(file, allow_pickle=False, plies=plies, scores=self.scores)

        write_whole(path, save)

    @classmethod
    def open(cls, book: Book | str | os.PathLike[str] | None) -> Book | None:
        """Return the book for an option: ``"default"``, ``"12ply"``, a path, a Book, or None."""
        if book is None or isinstance(book, Book):
            return book
        if not IS_STANDARD:
            if book == "default":
                return None
            raise InvalidOption(
                f"book={book!r}: expected None, since only board {STANDARD} has books"
            )
        if book == "default":
            return default_book()
        if book == "12ply":
            return twelve_ply_book()
        if isinstance(book, (str, os.PathLike)):
            return cls.read(book)
        raise InvalidOption(f"book={book!r}: expected 'default', '12ply', a path, a Book or None")


@functools.cache
def default_book() -> Book:
    """Return the book that comes with this package."""
    require_standard("the default book")
    with resources.as_file(resources.files("c4env.agents.solver") / "book_8ply.npz") as file:
        book = Book.read(file)
    book.name = "default"
    return book


@functools.cache
def twelve_ply_book() -> Book:
    """Return the 12-ply book of the package ``bitbully-databases``."""
    from c4env.agents.solver.twelve import TwelvePlyBook  # compiled only if needed

    return TwelvePlyBook(default_book())
