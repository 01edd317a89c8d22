"""Describe every agent: its method, its options and their defaults."""

from __future__ import annotations

import argparse
import os
import sys

from c4env.evaluation.cli.declare import add_board, add_format
from c4env.evaluation.cli.output import say, show
from c4env.evaluation.tables import Table


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("agents", nargs="*", metavar="NAME", help="describe only these agents")
    add_board(parser)
    add_format(parser)


def execute(arguments: argparse.Namespace) -> None:
    if "numba" not in sys.modules:
        os.environ["NUMBA_DISABLE_JIT"] = "1"  # descriptions need no kernel
    from c4env import agents
    from c4env.agents.making.spec import description_of
    from c4env.errors import C4Error

    rows: list[tuple[str, ...]] = []
    for name in arguments.agents or agents.names():
        try:
            if arguments.format == "text":
                say(agents.describe(name))
                continue
            name, summary, options = description_of(name)
            rows += [(name, summary, *option) for option in options or [("", "", "")]]
        except C4Error as error:
            if arguments.agents:
                raise
            # An agent of another package failed; still list the other agents.
            broken = f"broken: {' '.join(str(error).split())}"
            rows.append((name, broken, "", "", ""))
            if arguments.format == "text":
                say(f"{name:<20} {broken}")
    if arguments.format != "text":
        columns = dict.fromkeys(("agent", "summary", "option", "default", "help"), "")
        show(Table.of(columns, rows), arguments)
