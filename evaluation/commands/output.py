"""What a command prints: harmless to the terminal, in colour where that is wanted."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING, Any, TextIO

from evaluation.tables import for_terminal

if TYPE_CHECKING:
    from evaluation.report.summary import RunSummary


def say(text: str, file: TextIO | None = None, end: str = "\n") -> None:
    """Print what may hold anybody's words: control characters are shown, not obeyed."""
    out = sys.stdout if file is None else file
    print(for_terminal(text, in_colour(out)), end=end, file=out, flush=file is not None)


def in_colour(file: TextIO | None = None) -> bool:
    """Whether colours are wanted: on a terminal that has them, unless NO_COLOR is set."""
    out = sys.stdout if file is None else file
    return out.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def show(found: Any, arguments: argparse.Namespace) -> None:
    """Print a result in the form of ``--format``."""
    say(getattr(found, arguments.format)())


def show_run(summary: RunSummary, arguments: argparse.Namespace, before: int) -> None:
    """Print what a run found, and where its games are, ``before`` of them from earlier."""
    show(summary, arguments)
    if arguments.format == "text":
        say_before(before)
        if arguments.out is not None:
            say(f"games in {arguments.out}; c4 report {arguments.out} prints this again")


def say_before(before: int) -> None:
    """Say how many games were played before, if any were."""
    if before:
        say(f"{before} of the games {'was' if before == 1 else 'were'} there already")
