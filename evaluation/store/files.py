"""Files: written anew, whole or as they were before; and locked while they grow."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from c4env.files import write_whole
from evaluation.errors import RunInUse, UnreadableRun, UnwritableRun

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


def lock_file(file: IO[Any], path: Path) -> None:
    """Keep other processes from writing to an open file; the system undoes it at exit.

    The file itself is locked, so a process that was killed leaves nothing behind. Where a file
    system has no locks, as some network ones, a warning says so and the work goes on.

    Raises:
        RunInUse: another process holds the lock.
    """
    import portalocker  # it takes a tenth of a second, which only those pay who write

    try:
        portalocker.lock(file, portalocker.LOCK_EX | portalocker.LOCK_NB)
    except portalocker.AlreadyLocked:
        raise RunInUse(f"{path} is being written by another process") from None
    except (portalocker.LockException, OSError) as error:
        why = error.args[0] if error.args else error
        warnings.warn(
            f"{path} cannot be locked ({getattr(why, 'strerror', None) or why}): see to it that "
            "no other process writes to it",
            RuntimeWarning,
            stacklevel=3,
        )


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
