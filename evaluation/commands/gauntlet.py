"""Play one agent against a field, over openings with both colours: c4 gauntlet MINE FIELD...

The agents of the field do not meet each other. Without a field, the default one of `c4 run`
is met. Agents are named as for `c4 run`.
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
    parser.add_argument("challenger", metavar="MINE", help="the agent that meets all others")
    parser.add_argument(
        "field", nargs="*", default=[], metavar="FIELD",
        help="the agents it meets (default: the field of c4 run)",
    )  # fmt: skip
    add_run(parser)
    add_html(parser)
    add_anchor(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Play, and print the table on stdout."""
    announce_compiling(arguments.quiet)
    from evaluation.games.tournament import gauntlet

    field = arguments.field
    if not field:
        field = [name for name in DEFAULT_FIELD if name != arguments.challenger]
        arguments.openings = arguments.openings or QUICK_OPENINGS
    anchor = anchor_of(arguments, [arguments.challenger, *field])
    try_agents([arguments.challenger, *field])
    with RunProgress(arguments.quiet) as progress:
        result = gauntlet(arguments.challenger, field, **run_settings(arguments, progress))
    show_run(result, arguments, progress.before, anchor)
    return 0
