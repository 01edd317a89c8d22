"""Files: written anew, whole or as they were before; and locked while they grow."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO, Any

from evaluation.errors import RunInUse, UnwritableRun


def lock_file(file: IO[Any], taken: str) -> None:
    """Keep a second process from writing to an open file; the system undoes it at exit.

    Args:
        file: open for writing.
        taken: what the error says.

    Raises:
        RunInUse: another process has it.
    """
    try:
        import fcntl
    except ImportError:  # not on Windows: there it is left to the user
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise RunInUse(taken) from None


def write_file(path: Path, text: str) -> None:
    """Write a text, in place of what the file held; a kill leaves the one or the other.

    Raises:
        UnwritableRun: it cannot be written, or the path is a folder's.
    """
    if path.is_dir() or not path.name:
        raise UnwritableRun(f"{str(path)!r} is a folder: expected the name of a file to write")
    partial = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        try:
            partial.write_text(text, encoding="utf-8", newline="\n")
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise UnwritableRun(f"{path} cannot be written: {error.strerror or error}") from None
