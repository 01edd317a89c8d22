"""Helpers of training scripts: command line, optional imports, folder lock and checkpoints."""

from __future__ import annotations

import argparse
import inspect
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NoReturn

from c4env.agents.base import require_count
from c4env.agents.errors import InvalidValue
from c4env.errors import C4Error, MissingExtra
from c4env.files import lock_file
from c4env.lazy import from_extra

LAST_SEED: Final = 2**32 - 1  # the greatest seed that all libraries take
OPTIONS: Final = {
    "out": "the file or folder to write",
    "folder": "folder of the training",
    "positions": "number of positions to learn from",
    "steps": "length of the training, in steps of the environment",
    "minutes": "minutes of training, earlier calls included",
    "seed": "seed of weights and games",
    "device": '"cpu", "cuda" or another PyTorch device',
    "boards": "games at once; a GPU is quick with thousands",
}
"""The help texts of the scripts' arguments."""


@contextmanager
def needs(extra: str, module: str = "") -> Iterator[None]:
    """A context manager for optional imports; if one fails, the error names the extra to install.

    Raises:
        MissingExtra: an import fails.
        SystemExit: an import fails and ``module`` is ``"__main__"``; the error is printed.
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
    """A context manager that locks a training's folder and refuses settings that differ.

    Args:
        folder: the folder, made if it is missing. A process that dies also releases the lock.
        settings: a line of text, which the file ``settings.txt`` of the folder keeps.

    Raises:
        FileInUse: another process trains in the folder.
        InvalidValue: the folder has a training with other settings.
        OSError: the folder cannot be made or written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "settings.txt").open("a+", errors="replace") as file:
        lock_file(file, folder)
        file.seek(0)
        kept = file.read()
        if not settings.startswith(kept):  # a new file is empty; a kill leaves part of the line
            raise InvalidValue(
                f"{folder} holds a training with {kept.strip()}: expected {settings.strip()}"
            )
        file.write(settings[len(kept) :])
        file.flush()
        yield


@contextmanager
def checkpoint_read(path: Path) -> Iterator[None]:
    """A context manager for reading a checkpoint; every error becomes a short InvalidValue.

    Raises:
        InvalidValue: the file is not a checkpoint, or comes from another version.
    """
    try:
        yield
    except Exception as error:
        said = " ".join(f"{type(error).__name__}: {error}".split())[:120]
        raise InvalidValue(f"{path}: {said}: expected a checkpoint, or no file") from None


class Parser(argparse.ArgumentParser):
    """A command-line parser that raises InvalidValue for bad arguments."""

    def error(self, message: str) -> NoReturn:
        """Raise InvalidValue."""
        raise InvalidValue(message)


def run(
    act: Callable[..., Any],
    doc: str | None,
    said: str = "",
    argv: Sequence[str] | None = None,
    *,
    resumes: bool = False,
) -> int:
    """Call a function with arguments of the command line; report bad input in one line.

    Args:
        act: the function; ``OPTIONS`` describes its parameters by name. Parameters without a
            default are paths and become positional arguments; the file ``out`` must be writable.
            Parameters with a default become options. Integers must be at least 1, but the seed
            may be 0. Keyword-only parameters keep their defaults.
        doc: the beginning of ``--help``.
        said: text to print before the number that the function returns; "" prints nothing.
        argv: the arguments; None for the arguments of the process.
        resumes: True if a repeated command resumes the training; ``out`` then becomes ``--out``.

    Returns:
        the exit code: 0 for success, 2 for bad input, 130 for an interrupt.
    """
    spec = sys.modules[act.__module__].__spec__
    parser = Parser(
        prog=f"python -m {spec.name}" if spec else None,
        description=doc,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for name, parameter in inspect.signature(act).parameters.items():
        default = parameter.default
        if parameter.kind is parameter.KEYWORD_ONLY:
            continue
        if default is not parameter.empty:
            words = f"{OPTIONS[name]} (default %(default)s)"
            parser.add_argument(f"--{name}", type=type(default), default=default, help=words)
        elif resumes:
            parser.add_argument(f"--{name}", type=Path, required=True, help=OPTIONS["folder"])
        else:
            parser.add_argument(name, type=Path, help=OPTIONS[name])
    try:
        given = vars(parser.parse_args(argv))
        for name, value in given.items():
            if isinstance(value, int):
                least, most = (0, LAST_SEED) if name == "seed" else (1, 2**63 - 1)
                require_count(f"--{name}", value, least, most)
        if "out" in given and not resumes:
            path = given["out"]
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
                raise InvalidValue(f"{path}: expected the name of a file that can be written")
        found = act(**given)
    except (C4Error, OSError) as error:
        file, why = getattr(error, "filename", None), getattr(error, "strerror", None)
        text = str(error) if file is None else f"{file}: {why}"
        print(f"{parser.prog}: {' '.join(text.split())}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        on = "; the same command goes on from the last checkpoint" if resumes else ""
        print(f"stopped{on}", file=sys.stderr)
        return 130
    if said:
        print(f"{said}: {found:+.2f}")
    return 0
