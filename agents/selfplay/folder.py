"""What trainings share: the folder that one process holds, checkpoints, and the command line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from c4env.errors import C4Error, InvalidOption, MissingExtra
from c4env.files import lock_file
from c4env.lazy import from_extra

LAST_SEED: Final = 2**32 - 1  # the greatest seed that all libraries take


@contextmanager
def needs(extra: str, module: str = "") -> Iterator[None]:
    """A context manager for optional imports; if one fails, the error names the extra to install.

    In ``module`` ``"__main__"`` the error is printed, and the process exits with code 2.
    """
    try:
        with from_extra(extra, "this needs another package"):
            yield
    except MissingExtra as error:
        if module != "__main__":
            raise
        print(error, file=sys.stderr)
        raise SystemExit(2) from None


@contextmanager
def claimed(folder: Path, settings: str) -> Iterator[None]:
    """A context manager that makes and locks a training's folder, which keeps its ``settings``.

    Raises:
        InvalidOption: the folder has a training with other settings.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "settings.txt").open("a+", errors="replace") as file:
        lock_file(file, folder)
        file.seek(0)
        kept = file.read()
        if not settings.startswith(kept):  # a new file is empty; a kill leaves part of the line
            raise InvalidOption(
                f"{folder} holds a training with {' '.join(kept.split())}: "
                f"expected {' '.join(settings.split())}"
            )
        file.write(settings[len(kept) :])
        file.flush()
        yield


@contextmanager
def checkpoint_read(path: Path) -> Iterator[None]:
    """A context manager for reading a checkpoint; every error becomes a short InvalidOption."""
    try:
        yield
    except Exception as error:
        said = " ".join(f"{type(error).__name__}: {error}".split())[:120]
        raise InvalidOption(f"{path}: {said}: expected a checkpoint, or no file") from None


def run(act: Callable[..., Any], parser: argparse.ArgumentParser, *argv: str) -> int:
    """Call a function with the arguments of the command line; report bad input in one line.

    Returns the exit code: 0 for success, 2 for bad input, 130 for an interrupt.
    """
    parser.formatter_class = argparse.RawDescriptionHelpFormatter  # keeps the lines of examples
    given = vars(parser.parse_args(argv or None))
    try:
        act(**given)
    except (C4Error, OSError) as error:
        print(f"{parser.prog}: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130
    return 0
