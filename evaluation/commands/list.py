"""Describe every agent: what it does, its options and their defaults."""

from __future__ import annotations

import argparse

from evaluation.commands.output import say


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("agents", nargs="*", metavar="NAME", help="only these")


def execute(arguments: argparse.Namespace) -> int:
    """Print the descriptions."""
    import agents
    from c4env.errors import C4Error

    for name in arguments.agents:
        say(agents.describe(name))
    for name in () if arguments.agents else agents.names():
        try:
            say(agents.describe(name))
        except C4Error as error:  # another package's; it hides none of the others
            say(f"{name:<20} broken: {' '.join(str(error).split())}")
    return 0
