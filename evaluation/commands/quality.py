"""Judge moves by exact play: c4 quality DIR.

DIR is what `c4 run --out` wrote. The exact score of every column is found in every position of
its games, on all cores, and kept in DIR/scores.jsonl: stopped, it goes on with the same command.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from c4env.cores import usable_cores
from evaluation.commands.run import FORMATS, Progress


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument(
        "--jobs", type=int, default=usable_cores(), metavar="N",
        help="threads (default: the number of cores)",
    )  # fmt: skip
    parser.add_argument("--format", choices=FORMATS, default="text", help="of the table")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")


def execute(arguments: argparse.Namespace) -> int:
    """Judge, and print the table on stdout."""
    from evaluation.judge import Judge, positions_backwards
    from evaluation.quality import Quality
    from evaluation.record import read_games

    _, games, _ = read_games(arguments.folder)
    with Judge(arguments.folder) as judge, Progress("positions", arguments.quiet) as progress:
        judge.judge(positions_backwards(games), arguments.jobs, progress.watch)
        quality = Quality.of_games(games, judge)
    print(getattr(quality, arguments.format)())
    return 0
