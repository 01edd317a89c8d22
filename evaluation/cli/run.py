"""Play a round robin: every pairing over enumerated openings, both colours, and a win table.

An agent is a spec such as `greedy` or `alphabeta:depth=6,heuristic=window` (`c4 list` shows
all), or package.module:attribute for a class or function of your own. Without any, the
default field is played: random, greedy, and the published systems.
"""

from __future__ import annotations

__any_board__ = True

import argparse
from functools import partial

from c4env.evaluation.cli.options import add_anchor, add_html, add_run
from c4env.evaluation.cli.pages import default_field, play_run
from c4env.evaluation.cli.progress import announce_compiling


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("agents", nargs="*", metavar="SPEC", help="agents, at least two")
    add_run(parser)
    add_html(parser)
    add_anchor(parser)


def execute(arguments: argparse.Namespace) -> None:
    announce_compiling(arguments.quiet)
    from c4env.evaluation.games.tournament import round_robin

    field = arguments.agents or default_field(arguments)
    play_run(arguments, field, partial(round_robin, field))
