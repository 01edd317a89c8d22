"""Files that somebody named: read, and written anew, whole or as they were before."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from c4env.evaluation.errors import UnreadableRun, UnwritableRun

from c4env.files import write_whole

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


def read_text(path: Path | Traversable) -> str:
    """The text of a file that somebody named.

    Raises:
        UnreadableRun: it cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableRun(f"{path}: {getattr(error, 'strerror', None) or error}") from None


def write_file(path: Path, text: str) -> None:
    """Write a text, in place of what the file held; a kill leaves the one or the other.

    Raises:
        UnwritableRun: it cannot be written, or the path is a folder's.
    """
    if path.is_dir() or not path.name:
        raise UnwritableRun(f"{str(path)!r} is a folder: expected the name of a file to write")
    try:
        write_whole(path, text)
    except OSError as error:
        raise UnwritableRun(f"{path} cannot be written: {error.strerror or error}") from None
