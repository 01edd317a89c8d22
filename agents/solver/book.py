"""Opening books (temporary form: none)."""

from __future__ import annotations

import os

from c4env.errors import C4Error
from c4env.position import Position


class BookUnavailable(C4Error):
    """A book that cannot be read."""


class Book:
    plies = 0

    @classmethod
    def open(cls, book: Book | str | os.PathLike[str] | None) -> Book | None:
        return None

    def score(self, position: Position) -> int | None:
        return None
