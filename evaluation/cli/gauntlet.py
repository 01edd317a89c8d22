"""Play one agent against a field, over openings with both colours: c4 gauntlet MINE FIELD...

The agents of the field do not meet each other. Without a field, the default one of `c4 run`
is met. Agents are named as for `c4 run`.
"""

from __future__ import annotations

__any_board__ = True

import argparse
from functools import partial

from c4env.evaluation.cli.options import add_anchor, add_html, add_run
from c4env.evaluation.cli.pages import default_field, play_run
from c4env.evaluation.cli.progress import announce_compiling


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("challenger", metavar="MINE", help="the agent that meets all others")
    parser.add_argument(
        "field", nargs="*", default=[], metavar="FIELD",
        help="the agents it meets (default: the field of c4 run)",
    )  # fmt: skip
    add_run(parser)
    add_html(parser)
    add_anchor(parser)


def execute(arguments: argparse.Namespace) -> None:
    announce_compiling(arguments.quiet)
    from c4env.evaluation.games.tournament import gauntlet

    mine = arguments.challenger
    field = arguments.field or [name for name in default_field(arguments) if name != mine]
    play_run(arguments, [mine, *field], partial(gauntlet, mine, field))
