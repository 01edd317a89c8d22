"""Print the leaderboard that comes with c4env, or rate one agent against its field.

Nothing is played without --place. --place SPEC rates one agent: it meets every agent of the stored
field from some openings with both colours, and the field's own games are not played again. --out
keeps the new games, and the same command resumes an interrupted run.
"""

from __future__ import annotations

import argparse

from c4env.evaluation.cli.declare import AGENT, add_format, add_options, add_quiet, keywords, refuse
from c4env.evaluation.cli.output import Progress, say, show
from c4env.evaluation.tables import plural, signed
from c4env.system import usable_cores


def configure(parser: argparse.ArgumentParser) -> None:
    from c4env.evaluation.games.run import Settings
    from c4env.evaluation.studies.leaderboard import place

    parser.add_argument("--place", metavar="SPEC", help=f"rate this agent: {AGENT}")
    parser.add_argument("--out", metavar="DIR", help="keep the games of --place in DIR")
    add_options(parser, place, "limit")
    add_options(parser, Settings, "seed jobs", jobs=usable_cores())
    add_quiet(parser)
    add_format(parser)


def execute(arguments: argparse.Namespace) -> None:
    from c4env.evaluation.studies.leaderboard import stored_board

    if arguments.place is not None:
        _place(arguments)
        return
    refuse(arguments, ["out", "limit", "seed"], "without --place")
    board = stored_board()
    if arguments.format == "markdown":
        say(board.markdown())
    else:
        show(board.table(), arguments)


def _place(arguments: argparse.Namespace) -> None:
    from c4env.evaluation.games.run import Settings
    from c4env.evaluation.studies.leaderboard import place, stored_board

    board = stored_board()
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
        ranks = rating.ranks
        more = ": more give a more exact place" if ranks and ranks.best < ranks.worst else ""
        notes.append(f"{name} played {played} of {stored} openings{more}.")
    notes += placement.run.table.reasons_of_forfeits()
    show(ratings.table(headline, tuple(notes)), arguments)
