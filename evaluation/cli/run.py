"""Play a round robin: every pairing over enumerated openings, with both colours.

The result is a win table and ratings. With --only ME, agent ME plays all other agents, which do not
play each other. The table then has a row for each opponent.

A spec such as `greedy` or `alphabeta:depth=6,heuristic=window` names an agent; `c4 list` shows all
agents. FILE.py:function or package.module:attribute names your own agent; FILE.py alone means its
function `agent`. NAME=SPEC gives an agent another name in the tables. A pattern names many agents:
`alphabeta:depth=2..6,heuristic={chain,window}` has a range and a choice. Without agents, the
default field plays: random, greedy, and the published systems.
"""

from __future__ import annotations

import argparse
from functools import partial

from .options import AGENT, add_anchor, add_html, add_run
from .pages import default_field, play_run
from .progress import announce_compiling


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "agents", nargs="*", metavar="SPEC",
        help=f"agents, at least two: {AGENT}",
    )  # fmt: skip
    parser.add_argument("--only", metavar="ME", help="play only the games of this agent")
    add_run(parser)
    add_html(parser)
    add_anchor(parser)


def execute(arguments: argparse.Namespace) -> None:
    announce_compiling(arguments.quiet)
    from ..games.tournament import gauntlet, round_robin
    from ..plan.field import split_name
    from ..plan.patterns import expand_all

    given, me = expand_all(arguments.agents), arguments.only
    field = given or default_field(arguments)
    if me is None:
        play_run(arguments, field, partial(round_robin, field))
        return
    names = [split_name(player)[0] for player in field]
    name, _ = split_name(me)
    me = field[names.index(name)] if name in names else me  # ME may be among the agents
    others = [player for player, other in zip(field, names, strict=True) if other != name]
    play_run(arguments, [me, *others], partial(gauntlet, me, others))
