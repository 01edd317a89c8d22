"""Play one agent against a field, over openings with both colours: c4 gauntlet MINE FIELD...

The agents of the field do not meet each other. Without a field, the default one of `c4 run`
is met. Agents are named as for `c4 run`.
"""

from __future__ import annotations

import argparse

from evaluation.commands import run


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("challenger", metavar="MINE", help="the agent that meets all others")
    parser.add_argument(
        "field", nargs="*", default=[], metavar="FIELD",
        help="the agents it meets (default: the field of c4 run)",
    )  # fmt: skip
    run.configure_settings(parser)
    run.configure_anchor(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Play, and print the table on stdout."""
    run.announce(arguments)
    from evaluation.games.tournament import gauntlet

    field = arguments.field
    if not field:
        field = [name for name in run.DEFAULT_FIELD if name != arguments.challenger]
        arguments.openings = arguments.openings or run.QUICK_OPENINGS
    run.anchor(arguments, [arguments.challenger, *field])
    with run.Progress("games", arguments.quiet) as progress:
        result = gauntlet(arguments.challenger, field, **run.settings(arguments, progress))
    run.show(result, arguments, progress)
    return 0
