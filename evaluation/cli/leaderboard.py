"""Rate a fixed field of agents, or one agent against this field.

The agents of the field play each other in about an hour on two idle cores; --quick plays fewer
openings, in minutes. --out keeps every game, and the same command resumes an interrupted run.
--stored prints the table that comes with the package and plays no games.

--place SPEC rates one agent. The agent meets every agent of the stored field from some openings
with both colours; the field's own games are stored and are not played again.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from c4env.evaluation.cli.options import AGENT, add_format, add_options, add_quiet, keywords, refuse
from c4env.evaluation.cli.output import Progress, say, show
from c4env.evaluation.tables import plural, signed
from c4env.system import usable_cores

FOLDER: Final = "c4-leaderboard"


def configure(parser: argparse.ArgumentParser) -> None:
    from c4env.evaluation.games.run import Settings
    from c4env.evaluation.studies.leaderboard import place

    parser.add_argument(
        "--stored", action="store_true", help="print the stored table, play no games"
    )
    parser.add_argument("--quick", action="store_true", help="play fewer openings")
    parser.add_argument(
        "--out", metavar="DIR",
        help=f"keep the games in DIR (default {FOLDER}, or {FOLDER}-quick; with --place: nowhere)",
    )  # fmt: skip
    parser.add_argument(
        "--store", type=Path, metavar="FILE", help="write results to FILE for --field"
    )
    add_options(parser, Settings, "jobs", jobs=usable_cores())
    add_quiet(parser)
    add_format(parser)
    trial = parser.add_argument_group("one agent against the stored field")
    trial.add_argument("--place", metavar="SPEC", help=f"rate this agent: {AGENT}")
    trial.add_argument("--field", type=Path, metavar="FILE", help="a field that --store wrote")
    add_options(trial, place, "limit")
    add_options(trial, Settings, "seed")


def execute(arguments: argparse.Namespace) -> None:
    from c4env.evaluation.studies.leaderboard import play_leaderboard, stored_board
    from c4env.files import write_whole

    if arguments.place is not None:
        refuse(arguments, ["stored", "quick", "store"], "with --place")
        _place(arguments)
        return
    refuse(arguments, ["limit", "field", "seed"], "without --place")
    if arguments.stored:
        refuse(arguments, ["quick", "out"], "with --stored, which plays nothing")
        board = stored_board()
    else:
        out = arguments.out or (f"{FOLDER}-quick" if arguments.quick else FOLDER)
        with Progress("games", arguments.quiet) as progress:
            board = play_leaderboard(
                quick=arguments.quick, jobs=arguments.jobs, out=out, watch=progress.watch
            )
    if arguments.format == "markdown":
        say(board.markdown())
    else:
        show(board.table(), arguments)
    if arguments.store is not None:
        write_whole(arguments.store, board.format())


def _place(arguments: argparse.Namespace) -> None:
    from c4env.evaluation.games.run import Settings
    from c4env.evaluation.studies.leaderboard import place, stored_board

    board = stored_board(arguments.field)
    with Progress("games", arguments.quiet) as progress:
        settings = keywords(arguments, place, Settings)
        placement = place(arguments.place, board, **settings, watch=progress.watch)
    name, ratings = placement.name, placement.ratings
    (rating,) = (rating for rating in ratings if rating.player == name)
    headline = (
        f"{name}: place {rating.ranks} of {len(ratings)}, Elo "
        f"{signed(rating.elo)} (95 %: {signed(rating.low)} .. {signed(rating.high)}), "
        f"{rating.score:.1%} of {plural(rating.games, 'game')}"
    )
    notes = [f"Field of c4env {board.version}, {board.date}."]
    played, stored = len(placement.run.openings), len(board.openings)
    if played < stored:
        more = ": more give a more exact place" if rating.ranks.best < rating.ranks.worst else ""
        notes.append(f"{name} played {played} of {stored} openings{more}.")
    notes += placement.run.table.reasons_of_forfeits()
    show(ratings.table(headline, tuple(notes)), arguments)
