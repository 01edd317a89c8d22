"""Refute an agent: the least that any opponent can hold it to, and by which moves.

c4 refute SPEC

From each opening and with each colour all moves of the opponent are searched with the agent's own
answers, helped by exact scores. An opening is held if exact play would win (or draw) it and no line
was found in which the agent gets less: proven if all was searched, else up to --positions.
"""

from __future__ import annotations

import argparse
from typing import Final

from c4env.evaluation.cli.options import add_format, add_settings
from c4env.evaluation.cli.output import show
from c4env.evaluation.cli.progress import Progress, announce_compiling

OPENINGS: Final = "2"
POSITIONS: Final = 1000


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("agent", metavar="SPEC", help="the agent, as for c4 run")
    parser.add_argument(
        "--openings", metavar="OPENINGS", default=OPENINGS,
        help=f"where games begin, as for c4 run (default {OPENINGS}: 25 of them)",
    )  # fmt: skip
    parser.add_argument(
        "--positions", type=int, default=POSITIONS, metavar="N",
        help=f"positions to ask it in, for each opening and colour (default {POSITIONS})",
    )  # fmt: skip
    parser.add_argument(
        "--out", metavar="DIR",
        help="keep answers and scores in DIR; the same command, or one with more positions, "
        "goes on from there",
    )  # fmt: skip
    add_settings(parser, "limit", "seed", "jobs")
    add_format(parser)


def execute(arguments: argparse.Namespace) -> None:
    announce_compiling(arguments.quiet)
    from c4env.evaluation.exact.refutation import refute
    from c4env.evaluation.plan.field import split_name

    names = ("openings", "positions", "seed", "jobs", "out", "limit")
    given = {name: getattr(arguments, name) for name in names}
    with Progress("openings", arguments.quiet) as progress:
        found = refute(dict([split_name(arguments.agent)]), **given, watch=progress.watch)
    show(found, arguments)
