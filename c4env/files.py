"""Atomic writes of files, and locks against other writers."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from c4env.errors import Unwritable

Content = str | bytes | Callable[[IO[bytes]], object]


def write_whole(path: str | os.PathLike[str], content: Content) -> None:
    """Replace the content of a file atomically; a function writes it to an open file.

    A text is written as UTF-8. The content goes to a temporary file in the same folder, which then
    replaces the old file. Readers see the old content or the new, even if the process is killed.
    To a pipe or a device, the content is written directly.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        _write(path, content)
        return
    path = Path(os.path.realpath(path))  # a symbolic link stays, and its target changes
    partial = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        _write(partial, content)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _write(path: str | os.PathLike[str], content: Content) -> None:
    with open(path, "wb") as file:
        if callable(content):
            content(file)
        else:
            file.write(content.encode() if isinstance(content, str) else content)


def lock_file(file: IO[Any], path: Path) -> None:
    """Lock an open file against other writers until the process ends.

    The lock is on the file itself, so a killed process leaves no lock behind. On a file system
    without locks, as on some networks, the file stays unlocked and a warning appears.

    Raises:
        Unwritable: another process holds the lock.
    """
    import portalocker  # the import takes 0.1 s, and only writers need it

    try:
        portalocker.lock(file, portalocker.LOCK_EX | portalocker.LOCK_NB)
    except portalocker.AlreadyLocked:
        raise Unwritable(f"{path} is locked by another process, which writes to it") from None
    except (portalocker.LockException, OSError) as error:
        why = error.args[0] if error.args else error
        warnings.warn(
            f"{path} cannot be locked ({getattr(why, 'strerror', None) or why}): make sure that "
            "no other process writes to it",
            RuntimeWarning,
            stacklevel=3,
        )
