"""Compare strength and cost: c4 sweep alphabeta:depth=1..6,heuristic={chain,window,lines}

The agents that match a pattern play each other; with --against, they play the agents named there.
The command prints the score, Elo, nodes per move and time per move of each agent.

key=1..6 is a range, {a,b} a choice. The result is the same if the shell expands the braces.
"""

from __future__ import annotations

import argparse

from c4env.evaluation.cli.output import say, say_before, show

from .options import AGENT, add_run, run_settings
from .pages import rescued
from .progress import RunProgress, announce_compiling


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("patterns", nargs="+", metavar="PATTERN", help=f"patterns, or {AGENT}")
    parser.add_argument(
        "--against", nargs="+", default=[], metavar="SPEC",
        help="the opponents (default: the matching agents play each other)",
    )  # fmt: skip
    add_run(parser)


def execute(arguments: argparse.Namespace) -> None:
    announce_compiling(arguments.quiet)
    from ..studies.sweep import SWEEP_FILE, sweep

    with RunProgress(arguments.quiet) as progress:
        settings = run_settings(arguments, progress)
        found = sweep(arguments.patterns, arguments.against, **settings)
    with rescued(found.result, arguments.out):
        show(found, arguments)
    if arguments.format == "text":
        say(f"digest {found.result.digest}")
        say_before(progress.before)
        if arguments.out is not None:
            say(f"games and {SWEEP_FILE} in {arguments.out}")
