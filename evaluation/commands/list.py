"""Describe every agent: what it does, its options and their defaults."""

from __future__ import annotations

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("agents", nargs="*", metavar="NAME", help="only these")


def execute(arguments: argparse.Namespace) -> int:
    """Print the descriptions."""
    import agents

    for name in arguments.agents or agents.names():
        print(agents.describe(name))
    return 0
