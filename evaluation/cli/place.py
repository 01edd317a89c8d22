"""Rate one agent among the stored field of the leaderboard: c4 place SPEC.

The agent meets every agent of the field over some openings with both colours; the field's
own games are stored, so they are not played again. Agents are named as for `c4 run`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from c4env.evaluation.cli.options import add_format, add_settings
from c4env.evaluation.cli.output import show
from c4env.evaluation.cli.pages import rescued
from c4env.evaluation.cli.progress import Progress, announce_compiling
from c4env.evaluation.tables import plural, signed


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("agent", metavar="SPEC", help="the agent to be placed")
    parser.add_argument(
        "--limit", type=int, default=25, metavar="N",
        help="openings to play, the first of the field's (default 25, or all it has played)",
    )  # fmt: skip
    parser.add_argument(
        "--field", type=Path, metavar="FILE", help="a field stored by c4 leaderboard --store"
    )
    add_settings(parser, "seed", "jobs", "out")
    add_format(parser)


def execute(arguments: argparse.Namespace) -> None:
    from c4env.evaluation.rating.ratings import format_ranks
    from c4env.evaluation.studies.leaderboard import place, stored_board

    board = stored_board(arguments.field)
    announce_compiling(arguments.quiet)
    with Progress("games", arguments.quiet) as progress:
        given = {name: getattr(arguments, name) for name in ("limit", "seed", "jobs", "out")}
        found = place(arguments.agent, board, **given, watch=progress.watch)
    (own,) = (r for r in found.ratings if r.player == found.name)
    placed = (
        f"{found.name}: place {format_ranks(own.ranks)} of {len(found.ratings)}, Elo "
        f"{signed(own.elo)} (95 %: {signed(own.low)} .. {signed(own.high)}), "
        f"{own.score:.1%} of {plural(own.games, 'game')}"
    )
    field = f"Field of c4env {board.version}, {board.date}; its mean is 0."
    with rescued(found.run, arguments.out):
        show(found.ratings.table(placed, (field,)), arguments)
