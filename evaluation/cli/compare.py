"""Compare two runs, before and after a change: c4 compare BEFORE AFTER.

The command compares the games that both run directories have: the same agents, opening and
colours. For each agent the table has the score before and after, the changes of score (in percent)
and Elo, and how many games ended better and worse. --games lists the games whose result changed.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from c4env.evaluation.cli.output import show

from .options import add_board, add_format


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("before", type=Path, metavar="BEFORE", help="a run directory")
    parser.add_argument("after", type=Path, metavar="AFTER", help="another run directory")
    parser.add_argument("--games", action="store_true", help="list the games whose result changed")
    add_board(parser)
    add_format(parser)


def execute(arguments: argparse.Namespace) -> None:
    from ..report.comparison import changed_games, compare
    from ..studies.match import read_run

    before, after = (read_run(folder) for folder in (arguments.before, arguments.after))
    show((changed_games if arguments.games else compare)(before, after), arguments)
