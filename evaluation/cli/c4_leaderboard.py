"""Print the leaderboard that comes with c4env, or place one agent on its scale.

Nothing is played without --place. With --place SPEC, one agent plays against agents of a stated
strength (graded:elo=...). The next opponent is as strong as the agent seems to be by its results so
far. The agents play every opening with both colours. The same seed gives the same games. --out
keeps the games. Run the same command again to resume an interrupted run, or with a greater --games
to add games.
"""

from __future__ import annotations

import argparse

from c4env.evaluation.cli.declare import (
    AGENT,
    add_again,
    add_format,
    add_options,
    add_quiet,
    keywords,
    refuse,
)
from c4env.evaluation.cli.output import Progress, say, show
from c4env.system import usable_cores


def configure(parser: argparse.ArgumentParser) -> None:
    from c4env.evaluation.results.placement import place
    from c4env.evaluation.runs.run import Settings

    parser.add_argument("--place", metavar="SPEC", help=f"rate this agent: {AGENT}")
    parser.add_argument("--out", metavar="DIR", help="keep the games of --place in DIR")
    add_options(parser, place, "games width")
    add_options(parser, Settings, "seed jobs", jobs=usable_cores())
    add_again(parser, "play the forfeited games in DIR again")
    add_quiet(parser)
    add_format(parser)


def execute(arguments: argparse.Namespace) -> None:
    from c4env.evaluation.results.leaderboard import stored_board

    if arguments.place is not None:
        _place(arguments)
        return
    refuse(arguments, ["out", "games", "width", "seed", "again"], "without --place")
    board = stored_board()
    if arguments.format == "markdown":
        say(board.markdown())
    else:
        show(board.table(), arguments)


def _place(arguments: argparse.Namespace) -> None:
    from c4env.evaluation.results.placement import place

    with Progress("games", arguments.quiet) as progress:
        settings = keywords(arguments, place)
        placement = place(arguments.place, **settings, watch=progress.watch)
    show(placement, arguments)
