"""Compare two runs, before and after a change: c4 compare BEFORE AFTER.

Both are run directories. Elo is relative to the mean of the agents that are in both. Games that
both have, of the same two agents from the same opening with the same colours, are compared one by
one: how many an agent did better in, and how many worse.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from evaluation.commands.options import add_format
from evaluation.commands.output import show


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("before", type=Path, metavar="BEFORE", help="a run directory")
    parser.add_argument("after", type=Path, metavar="AFTER", help="another")
    add_format(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Print the comparison."""
    from evaluation.report.comparison import compare
    from evaluation.store.record import read_games

    runs = [read_games(folder)[:2] for folder in (arguments.before, arguments.after)]
    show(compare(*runs), arguments)
    return 0
