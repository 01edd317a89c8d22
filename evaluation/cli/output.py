"""Print the output of commands, safely and in colour where the terminal has colours."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import TextIO

from c4env.evaluation.tables import Result, for_terminal


def say(text: str, file: TextIO | None = None, end: str = "\n") -> None:
    """Print a text; escape control characters, since the text may come from an agent.

    Raises:
        BrokenPipeError: nobody reads stdout any more. On stderr the text is lost.
    """
    out = sys.stdout if file is None else file
    with suppress(BrokenPipeError) if out is sys.stderr else nullcontext():
        print(for_terminal(text, in_colour(out)), end=end, file=out, flush=file is not None)


@contextmanager
def reader_may_end() -> Iterator[None]:
    """A context that prints as long as somebody reads, unlike `head`; the command then goes on."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(text: str) -> None:
    """Print an error on stderr."""
    say(text, sys.stderr)


def is_terminal(stream: object) -> bool:
    """Whether a stream is a terminal; a stream of a service or a log may have no ``isatty``."""
    return bool(getattr(stream, "isatty", bool)())


def in_colour(file: TextIO | None = None) -> bool:
    """Whether to use colours: yes on a terminal with colours, unless NO_COLOR is set."""
    out = sys.stdout if file is None else file
    return is_terminal(out) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def show(result: Result, arguments: argparse.Namespace) -> None:
    """Print a result in the format of ``--format``."""
    say(getattr(result, arguments.format)())
