"""Strength against cost: c4 sweep alphabeta:depth=1..6,heuristic={chain,window,lines}

Plays every agent that the patterns stand for, against each other or against the agents named with
--against, and prints score and Elo beside nodes and time a move.

key=1..6 is a range, {a,b} a choice of values. A shell that expands braces itself hands over several
patterns, which comes to the same; quotes do no harm.
"""

from __future__ import annotations

import argparse

from evaluation.commands import run


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("patterns", nargs="+", metavar="PATTERN", help="specs, or patterns of them")
    parser.add_argument(
        "--against", nargs="+", default=[], metavar="SPEC",
        help="the agents each of them meets (default: they meet each other)",
    )  # fmt: skip
    run.configure_settings(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Play, and print the table on stdout."""
    run.announce(arguments)
    from evaluation.studies.sweep import SWEEP_FILE, sweep

    with run.Progress("games", arguments.quiet) as progress:
        found = sweep(arguments.patterns, arguments.against, **run.settings(arguments, progress))
    print(getattr(found, arguments.format)())
    if arguments.format == "text":
        print(f"digest {found.result.digest}")
        if progress.before:
            print(f"{progress.before} of the games were there already")
        if arguments.out is not None:
            print(f"games and {SWEEP_FILE} in {arguments.out}")
    return 0
