"""Atomic writes of files, checks that they can be written, and locks against other writers."""

from __future__ import annotations

import io
import os
import stat
import tempfile
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from c4env.errors import Unwritable

Content = str | bytes | Callable[[IO[bytes]], object]


def write_whole(path: str | os.PathLike[str], content: Content) -> None:
    """Replace the content of a file atomically; a function writes it to a file in memory.

    A text is written as UTF-8. The content goes to a temporary file in the same folder, which then
    replaces the old file and keeps its permissions. Readers see the old content or the new, even if
    the process is killed. If several writers write at the same time, the last writer's content
    stays. To a pipe or a device, the content is written directly.

    Raises:
        Unwritable: the file cannot be written, or is a folder.
    """
    _refuse_folder(path)
    data = _bytes_of(content)
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            Path(path).write_bytes(data)
            return
        _replace(Path(os.path.realpath(path)), data)  # a symbolic link stays, its target changes
    except OSError as error:
        raise Unwritable(f"{path} cannot be written: {error.strerror or error}") from None


def _replace(target: Path, data: bytes) -> None:
    old = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    partial = target.with_name(f"{target.name}.{os.urandom(8).hex()}.part")  # only this call's

    def create(name: str, flags: int) -> int:  # never readable by more users than the old file
        return os.open(name, flags, 0o666 if old is None else old)

    try:
        with open(partial, "xb", opener=create) as file:
            file.write(data)
        if old is not None:
            with suppress(OSError):  # a file system without permissions
                partial.chmod(old)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def _bytes_of(content: Content) -> bytes:
    if isinstance(content, str):
        return content.encode()
    if isinstance(content, bytes):
        return content
    memory = io.BytesIO()  # NumPy and PyTorch hide why a write to a real file failed
    content(memory)
    return (
        memory.getvalue()
    )  # a buffer would outlive the file in a traceback, which may crash Python


def require_file(path: Path, makes: bool) -> None:
    """Check that a file can be written, before a long computation whose result goes there.

    Args:
        path: the file to write.
        makes: whether the caller will make a missing folder of the file.

    Raises:
        Unwritable: the folder is not writable, or ``path`` is a folder.
    """
    _refuse_folder(path)
    if not path.exists() or path.is_file():  # a pipe or a device needs no other file beside it
        _require_writable(path, path.parent, makes)


def require_folder(path: Path) -> None:
    """Check that a folder is writable, or can be made."""
    _require_writable(path, path, makes=True)


def _refuse_folder(path: str | os.PathLike[str]) -> None:
    if os.path.isdir(path):
        raise Unwritable(f"{str(path)!r} is a folder: expected the name of a file to write")


def _require_writable(path: Path, folder: Path, makes: bool) -> None:
    while makes and not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise Unwritable(f"{path} cannot be written: {error.strerror or error}") from None


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
