"""Play the standing field of agents against itself, and print who is how strong.

Takes about an hour on two idle cores; --quick plays a few openings only, in minutes. Every game
is kept in --out as it ends, and the same command goes on where it was stopped. --stored prints
the table that came with the package and plays nothing.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from c4env.cores import usable_cores
from c4env.evaluation.cli.options import add_format, add_settings, refuse
from c4env.evaluation.cli.output import say, show
from c4env.evaluation.cli.progress import Progress, announce_compiling

FOLDER: Final = "c4-leaderboard"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--stored", action="store_true", help="print the stored table, play nothing"
    )
    parser.add_argument("--quick", action="store_true", help="a few openings only")
    add_settings(parser, "jobs", jobs=None)
    add_format(parser)
    parser.add_argument(
        "--out", metavar="DIR",
        help=f"where the games are kept (default {FOLDER}, or {FOLDER}-quick)",
    )  # fmt: skip
    parser.add_argument(
        "--readme", type=Path, metavar="FILE",
        help="put the table between the two leaderboard comments of a Markdown file",
    )  # fmt: skip
    parser.add_argument(
        "--store", type=Path, metavar="FILE", help="write the results, for c4 place --field FILE"
    )


def execute(arguments: argparse.Namespace) -> None:
    from c4env.evaluation.store.files import read_text, write_file
    from c4env.evaluation.studies.leaderboard import (
        MARKERS,
        play_leaderboard,
        put_between_markers,
        stored_board,
    )

    if arguments.stored:
        refuse(arguments, ["quick", "out", "jobs"], "with --stored, which plays nothing")
    if arguments.readme is not None:  # before an hour of games, not after it
        put_between_markers(read_text(arguments.readme), MARKERS[0])
    if arguments.stored:
        board = stored_board()
    else:
        announce_compiling(arguments.quiet)
        out = arguments.out or (f"{FOLDER}-quick" if arguments.quick else FOLDER)
        jobs = usable_cores() if arguments.jobs is None else arguments.jobs
        with Progress("games", arguments.quiet) as progress:
            board = play_leaderboard(
                quick=arguments.quick, jobs=jobs, out=out, watch=progress.watch
            )
    table = board.markdown()
    if arguments.format == "markdown":
        say(table)
    else:
        show(board.table(), arguments)
    if arguments.store is not None:
        write_file(arguments.store, board.format())
    if arguments.readme is not None:
        write_file(arguments.readme, put_between_markers(read_text(arguments.readme), table))
