"""Opening books: stored exact scores of early positions.

A book file, in NumPy's format ``.npz``, has the ``scores``, int8 ``[N]``, of all unfinished
positions of ``plies`` discs, but not the positions. A position and its mirror image have one score.
The scores are in ascending order of position keys
(:func:`c4env.agents.solver.table.position_key`). The reader enumerates the positions in
milliseconds and computes the scores of positions with fewer discs by minimax.

The default book consists of two books: this package's file of 8 plies, and for 9 to 12 discs the
12-ply book of the package ``bitbully-databases`` (:mod:`c4env.agents.solver.twelve`).
"""

from __future__ import annotations

import functools
import importlib.util
import os
import warnings
from importlib import resources
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

import numpy as np

from c4env.agents.solver import enumeration
from c4env.agents.solver.table import position_key
from c4env.arrays import Int8s, Int64s
from c4env.bitboard import CELLS
from c4env.boards import STANDARD
from c4env.errors import InvalidOption
from c4env.files import write_whole
from c4env.geometry import IS_STANDARD, require_standard
from c4env.position import Position, require_position

if TYPE_CHECKING:
    from c4env.agents.solver.twelve import Records

SHIPPED_PLIES: Final = 8


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
        """Return the book for an option: ``"default"``, a path, a Book, or None."""
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
        if isinstance(book, (str, os.PathLike)):
            return cls.read(book)
        raise InvalidOption(f"book={book!r}: expected 'default', a path, a Book or None")


class DefaultBook(Book):
    """Exact scores of all unfinished positions of up to 12 discs.

    Only the entries of the 12-ply book that a position needs are read from the file.

    Args:
        below: the book of positions of fewer discs.
        file: the 12-ply book.

    Raises:
        OSError, ValueError: the file is missing or damaged.
    """

    def __init__(self, below: Book, file: Path) -> None:
        """Combine a book for fewer plies with the file of the 12-ply book."""
        self.plies = 12
        self.name = "default"
        self._below = below
        # Copy on write, since kernels take no arrays that are read-only; nothing is written.
        self._records: Records = np.asarray(np.memmap(file, np.uint8, mode="c")).reshape(-1, 5)

    def __reduce__(self) -> tuple[Any, ...]:
        return default_book, ()

    def score(self, position: Position) -> int | None:
        """Return the score of an unfinished position; see :meth:`Book.score`."""
        require_position(position)
        if position.plies > self.plies:
            return None
        if position.plies <= self._below.plies:
            return self._below.score(position)
        from c4env.agents.solver.twelve import NOT_STORED, resolve  # compiled only if needed

        score = resolve(
            self._records, position.mine, position.theirs, position.plies, -CELLS, CELLS
        )
        return None if score == NOT_STORED else score

    @property
    def scores(self) -> Int8s:
        """The scores ``[N]`` of the positions of 12 discs, by ascending key; takes seconds."""
        from c4env.agents.solver.twelve import resolve_all

        return resolve_all(self._records, *enumeration.bitboards(self.keys), self.plies)

    @property
    def keys(self) -> Int64s:
        """The ascending keys ``[N]`` of the positions of 12 discs, which are enumerated."""
        return enumeration.layers(self.plies)[-1]


@functools.cache
def default_book() -> Book:
    """Return the book of up to 12 discs; if its file is missing, warn and return the 8-ply book."""
    shipped = shipped_book()
    spec = importlib.util.find_spec("bitbully_databases")
    file = Path((spec and spec.origin) or "bitbully_databases/__init__.py")
    try:
        return DefaultBook(shipped, file.parent / "assets/book_12ply_distances.dat")
    except (OSError, ValueError) as error:
        warnings.warn(
            f"the solver has only the book of {shipped.plies} plies, and positions of 9 to 15 "
            f"discs take longer: bitbully-databases is not complete ({error}); "
            "pip install --force-reinstall bitbully-databases fixes this",
            RuntimeWarning,
            stacklevel=2,
        )
        return shipped


@functools.cache
def shipped_book() -> Book:
    """Return the book of 8 plies, whose file comes with this package."""
    require_standard("the default book")
    with resources.as_file(resources.files("c4env.agents.solver") / "book_8ply.npz") as file:
        book = Book.read(file)
    book.name = "default"
    return book
