"""Files that are written anew: whole, or as they were before."""

from __future__ import annotations

import os
from pathlib import Path

from evaluation.errors import UnwritableRun


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
