"""Files written whole or not at all: a kill or a full disk leaves no half of one."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import IO


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
    path = Path(path)
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
