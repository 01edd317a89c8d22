"""Describe every agent: what it does, its options and their defaults."""

from __future__ import annotations

import argparse

from evaluation.commands.options import add_board, add_format
from evaluation.commands.output import say, show
from evaluation.tables import Table


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("agents", nargs="*", metavar="NAME", help="only these")
    add_board(parser)
    add_format(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Print the descriptions: as text a few lines each, otherwise a row an option."""
    import agents
    from agents.zoo.registry import described
    from c4env.errors import C4Error

    rows: list[tuple[str, ...]] = [("agent", "summary", "option", "default", "help")]
    for name in arguments.agents or agents.names():
        try:
            if arguments.format == "text":
                say(agents.describe(name))
                continue
            name, summary, options = described(name)
            rows += [(name, summary, *option) for option in options or [("", "", "")]]
        except C4Error as error:
            if arguments.agents:
                raise
            # Another package's; it hides none of the others.
            broken = f"broken: {' '.join(str(error).split())}"
            rows.append((name, broken, "", "", ""))
            if arguments.format == "text":
                say(f"{name:<20} {broken}")
    if arguments.format != "text":
        show(Table(rows, left=range(5)), arguments)
    return 0
