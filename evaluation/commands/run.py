"""Play a round robin: every pairing over enumerated openings, both colours, and a win table.

An agent is a spec such as `greedy` or `alphabeta:depth=6,heuristic=window` (`c4 list` shows
all), or package.module:attribute for a class or function of your own. Without any, the
default field is played: random, greedy, and the published systems.
"""

from __future__ import annotations

import argparse

from evaluation.commands.options import (
    DEFAULT_FIELD,
    QUICK_OPENINGS,
    add_anchor,
    add_html,
    add_run,
    anchor_of,
    run_settings,
)
from evaluation.commands.pages import show_run
from evaluation.commands.progress import RunProgress, announce_compiling, try_agents


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("agents", nargs="*", metavar="SPEC", help="agents, at least two")
    add_run(parser)
    add_html(parser)
    add_anchor(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Play, and print the table on stdout."""
    announce_compiling(arguments.quiet)
    from evaluation.games.tournament import round_robin

    field = arguments.agents
    if not field:
        field = list(DEFAULT_FIELD)
        arguments.openings = arguments.openings or QUICK_OPENINGS
    anchor = anchor_of(arguments, field)
    try_agents(field)
    with RunProgress(arguments.quiet) as progress:
        result = round_robin(field, **run_settings(arguments, progress))
    show_run(result, arguments, progress.before, anchor)
    return 0
