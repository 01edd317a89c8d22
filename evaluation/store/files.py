"""Files that somebody named: read, and written anew, whole or as they were before."""

from __future__ import annotations

import tempfile
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
        return path.read_text(encoding="utf-8-sig")  # Windows begins files with a mark
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableRun(f"{path}: {getattr(error, 'strerror', None) or error}") from None


def require_folder(path: Path, folder: Path, makes: bool) -> None:
    """Refuse a path that cannot be written, before there is anything to write.

    Args:
        path: of a file, or of the folder itself; for the message.
        folder: what must be there and take files.
        makes: it is made first where it is missing.

    Raises:
        UnwritableRun: it does not, or the path of a file is a folder's.
    """
    if path != folder and (path.is_dir() or not path.name):
        raise UnwritableRun(f"{str(path)!r} is a folder: expected the name of a file to write")
    while makes and not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise UnwritableRun(f"{path} cannot be written: {error.strerror or error}") from None


def write_file(path: Path, content: str | bytes) -> None:
    """Write a text or bytes, in place of what the file held; a kill leaves the one or the other.

    Raises:
        UnwritableRun: it cannot be written, or the path is a folder's.
    """
    if path.is_dir() or not path.name:
        raise UnwritableRun(f"{str(path)!r} is a folder: expected the name of a file to write")
    try:
        write_whole(path, content)
    except OSError as error:
        raise UnwritableRun(f"{path} cannot be written: {error.strerror or error}") from None
