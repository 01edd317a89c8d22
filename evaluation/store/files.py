"""Read text files, and replace files atomically."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from c4env.errors import UnreadableRun, Unwritable
from c4env.files import write_whole

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


def read_text(path: Path | Traversable) -> str:
    """Read a text file.

    Raises:
        UnreadableRun: the file cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8-sig")  # skip a byte order mark from Windows
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableRun(f"{path}: {getattr(error, 'strerror', None) or error}") from None


def require_file(path: Path, makes: bool) -> None:
    """Check that a file can be written, before a long computation whose result goes there.

    Args:
        path: the file to write.
        makes: whether the caller will make a missing folder of the file.

    Raises:
        Unwritable: the folder is not writable, or ``path`` is a folder.
    """
    if path.is_dir() or not path.name:
        raise Unwritable(f"{str(path)!r} is a folder: expected the name of a file to write")
    if not path.exists() or path.is_file():  # a pipe or a device needs no other file beside it
        _require(path, path.parent, makes)


def require_folder(path: Path) -> None:
    """Check that a folder is writable, or can be made."""
    _require(path, path, makes=True)


def _require(path: Path, folder: Path, makes: bool) -> None:
    while makes and not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise Unwritable(f"{path} cannot be written: {error.strerror or error}") from None


def write_file(path: Path, content: str | bytes) -> None:
    """Replace the content of a file atomically: a killed process leaves no partial content.

    Raises:
        Unwritable: the file cannot be written, or is a folder.
    """
    if path.is_dir() or not path.name:
        raise Unwritable(f"{str(path)!r} is a folder: expected the name of a file to write")
    try:
        write_whole(path, content)
    except OSError as error:
        raise Unwritable(f"{path} cannot be written: {error.strerror or error}") from None
