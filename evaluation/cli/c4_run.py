"""Play a round robin: every pairing over enumerated openings, with both colours.

The result is a win table and ratings. With --only ME, agent ME plays all other agents, which do not
play each other. The table then has a row for each opponent.

A spec such as `greedy` or `alphabeta:depth=6,heuristic=window` names an agent; `c4 list` shows all
agents. FILE.py:function or package.module:attribute names your own agent. FILE.py without a name
means its function `agent`. NAME=SPEC gives an agent another name in the tables. In bash and zsh,
one word can stand for many specs: alphabeta:depth={2..6},heuristic={chain,window}. Without agents,
the default field plays: random, greedy, and the published systems.

Columns:
  rank        95 % interval of the agent's place
  Elo         rating, with its 95 % interval; the mean of the agents is 0
  LOS         probability of being stronger than the agent of the next row
  nodes, ms   nodes and milliseconds per move
  1, 2, ...   percent of the points when moving first against that agent
  first       percent of the points when moving first
  second      percent of the points when moving second
With --only, each row is an opponent of ME. LOS is the probability that ME is
stronger than the opponent. The columns nodes and ms are the opponent's, and
first and second are the wins/draws/losses of ME.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from functools import partial
from typing import Final

from c4env.evaluation.cli.declare import (
    AGENT,
    add_anchor,
    add_html,
    add_run,
    anchor_of,
    run_settings,
)
from c4env.evaluation.cli.output import RunProgress, show_run
from c4env.geometry import IS_STANDARD

_PUBLISHED: Final = "minimax:depth=5 alphabeta-chain alphabeta-window alphabeta-window-b rust-port"
_OTHERS: Final = _PUBLISHED if IS_STANDARD else "alphabeta mcts"
DEFAULT_FIELD: Final = ("random", "greedy", *_OTHERS.split())
"""Random, greedy, and the published systems except plain exact negamax, which plays only endings.
The naive search has depth 5, which takes about the time of the pruned one at depth 7, where both
choose the same columns. The published systems need a 6x7 board, so the field on other boards has
other agents."""

DEFAULT_OPENINGS: Final = 2
"""Plies of the default field's openings; a run takes less than a minute."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "agents", nargs="*", metavar="SPEC",
        help=f"agents, at least two: {AGENT}",
    )  # fmt: skip
    parser.add_argument("--only", metavar="ME", help="play only the games of this agent")
    add_run(parser, "3, 121 openings; for the default field 2, 25 openings")
    add_html(parser)
    add_anchor(parser)


def execute(arguments: argparse.Namespace) -> None:
    from c4env.evaluation.results.round_robin import gauntlet, round_robin
    from c4env.evaluation.runs.players import split_name

    if not arguments.agents and arguments.openings is None:
        arguments.openings = DEFAULT_OPENINGS
    field, me = arguments.agents or list(DEFAULT_FIELD), arguments.only
    play = partial(round_robin, field)
    if me is not None:
        names = [split_name(player)[0] for player in field]
        name, _ = split_name(me)
        me = field[names.index(name)] if name in names else me  # ME may be among the agents
        others = [player for player, other in zip(field, names, strict=True) if other != name]
        field, play = [me, *others], partial(gauntlet, me, others)
    anchor = anchor_of(arguments, [split_name(player)[0] for player in field])
    with RunProgress(arguments.quiet) as progress:
        run = play(**run_settings(arguments, progress))
    show_run(replace(run, anchor=anchor), arguments, progress.before)
