"""Files written whole or not at all, whatever ends the process; and locked while they grow."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from c4env.errors import FileInUse


def write_whole(
    path: str | os.PathLike[str], content: str | bytes | Callable[[IO[bytes]], object]
) -> None:
    """Put new content in the place of what a file held.

    It is written beside the file and renamed, so that others see the old content or the new.

    Args:
        path: the file; its folder is there.
        content: a text (written as UTF-8), bytes, or a function that writes to an open file.

    Raises:
        OSError: it cannot be written; the file is as it was.
    """
    path = Path(os.path.realpath(path))  # a link stays one
    partial = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with partial.open("wb") as file:
            if callable(content):
                content(file)
            else:
                file.write(content.encode() if isinstance(content, str) else content)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def lock_file(file: IO[Any], path: Path) -> None:
    """Keep other processes from writing to an open file; the system undoes it at exit.

    The file itself is locked, so a process that was killed leaves nothing behind. Where a file
    system has no locks, as some network ones, a warning says so and the work goes on.

    Raises:
        FileInUse: another process holds the lock.
    """
    import portalocker  # it takes a tenth of a second, which only those pay who write

    try:
        portalocker.lock(file, portalocker.LOCK_EX | portalocker.LOCK_NB)
    except portalocker.AlreadyLocked:
        raise FileInUse(f"{path} is held by another process, which writes to it") from None
    except (portalocker.LockException, OSError) as error:
        why = error.args[0] if error.args else error
        warnings.warn(
            f"{path} cannot be locked ({getattr(why, 'strerror', None) or why}): see to it that "
            "no other process writes to it",
            RuntimeWarning,
            stacklevel=3,
        )
