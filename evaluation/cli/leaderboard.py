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

from c4env.evaluation.tables import plural, signed

from .options import AGENT, add_format, add_jobs, add_quiet, at_least, refuse
from .output import Progress, say, show

FOLDER: Final = "c4-leaderboard"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--stored", action="store_true", help="print the stored table, play no games"
    )
    parser.add_argument("--quick", action="store_true", help="play fewer openings")
    parser.add_argument(
        "--place",
        metavar="SPEC",
        help=f"rate this agent against the stored field: {AGENT}",
    )
    parser.add_argument(
        "--limit", type=int, metavar="N",
        help="with --place: play the first N openings of the field (default 25, or all if fewer)",
    )  # fmt: skip
    parser.add_argument(
        "--field", type=Path, metavar="FILE", help="with --place: a field that --store wrote"
    )
    parser.add_argument(
        "--seed", type=at_least(0), metavar="N", help="with --place: seed of the agent"
    )
    add_jobs(parser)
    add_quiet(parser)
    add_format(parser)
    parser.add_argument(
        "--out", metavar="DIR",
        help=f"keep the games in DIR (default {FOLDER}, or {FOLDER}-quick; with --place: nowhere)",
    )  # fmt: skip
    parser.add_argument(
        "--store", type=Path, metavar="FILE", help="write results to FILE for --field"
    )


def execute(arguments: argparse.Namespace) -> None:
    from c4env.evaluation.store.lines import write_file

    from ..studies.leaderboard import play_leaderboard, stored_board

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
        write_file(arguments.store, board.format())


def _place(arguments: argparse.Namespace) -> None:
    from ..studies.leaderboard import place, stored_board

    board = stored_board(arguments.field)
    options = {name: getattr(arguments, name) for name in ("limit", "seed", "out")}
    given = {name: value for name, value in options.items() if value is not None}
    with Progress("games", arguments.quiet) as progress:
        found = place(arguments.place, board, **given, jobs=arguments.jobs, watch=progress.watch)
    (own,) = (r for r in found.ratings if r.player == found.name)
    placed = (
        f"{found.name}: place {own.ranks} of {len(found.ratings)}, Elo "
        f"{signed(own.elo)} (95 %: {signed(own.low)} .. {signed(own.high)}), "
        f"{own.score:.1%} of {plural(own.games, 'game')}"
    )
    notes = [f"Field of c4env {board.version}, {board.date}."]
    played, there = len(found.run.openings), len(board.openings)
    if played < there:
        more = ": more give a more exact place" if own.ranks.best < own.ranks.worst else ""
        notes.append(f"{found.name} played {played} of {there} openings{more}.")
    notes += found.run.table.reasons_of_forfeits()
    show(found.ratings.table(placed, tuple(notes)), arguments)
