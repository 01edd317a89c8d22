"""Search for games in which an agent gives away a win or a draw: c4 refute SPEC.

From each opening and with each colour, the command searches all moves of the opponent and asks the
agent for its answers. Exact scores guide the search. If exact play wins or draws and the search
finds no line in which the agent gets less, the agent holds the opening. The table calls a result
proven if the search completed all lines, and did not stop at the limit of --positions.
"""

from __future__ import annotations

import argparse
from typing import Final

from c4env.evaluation.cli.options import AGENT, add_format, add_jobs, add_quiet, add_seed
from c4env.evaluation.cli.output import show
from c4env.evaluation.cli.progress import Progress

OPENINGS: Final = "2"
POSITIONS: Final = 1000


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("agent", metavar="SPEC", help=f"the agent: {AGENT}")
    parser.add_argument(
        "--openings", metavar="OPENINGS", default=OPENINGS,
        help=f"openings, as for c4 run (default {OPENINGS}: 25 openings)",
    )  # fmt: skip
    parser.add_argument(
        "--positions", type=int, default=POSITIONS, metavar="N",
        help=f"limit of positions to ask about, for each opening and colour (default {POSITIONS})",
    )  # fmt: skip
    parser.add_argument(
        "--out", metavar="DIR",
        help="keep answers and scores in DIR; the same command resumes from them, also with more "
        "--positions",
    )  # fmt: skip
    parser.add_argument(
        "--limit", type=int, metavar="N", help="search only N of the openings, drawn by the seed"
    )
    add_seed(parser, "openings and of the agent")
    add_jobs(parser, "; each searches an opening")
    add_quiet(parser)
    add_format(parser)


def execute(arguments: argparse.Namespace) -> None:
    from c4env.evaluation.exact.refute import refute
    from c4env.evaluation.plan.field import split_name

    names = ("openings", "positions", "seed", "jobs", "out", "limit")
    given = {name: getattr(arguments, name) for name in names}
    with Progress("openings", arguments.quiet) as progress:
        found = refute(dict([split_name(arguments.agent)]), **given, watch=progress.watch)
    show(found, arguments)
