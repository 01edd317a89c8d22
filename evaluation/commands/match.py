"""Play two agents against each other: score, Elo difference, and who is stronger.

With --sprt 0,40 the match stops as soon as a sequential test knows whether the first is 40 Elo
stronger rather than 0. Each opening is a pair of games with the colours swapped, and the test
counts pairs. Agents are named as for `c4 run`.
"""

from __future__ import annotations

import argparse
from typing import Final

from evaluation.commands import run

SPRT_OPENINGS: Final = "4"
"""568 of them: the 121 of 3 plies seldom decide between 0 and 40 Elo."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("one", metavar="A", help="the agent whose score is told")
    parser.add_argument("other", metavar="B", help="the agent it meets")
    parser.add_argument(
        "--sprt", metavar="ELO0,ELO1",
        help="stop when it is decided whether A is ELO1 stronger, or ELO0 (openings then: 4)",
    )  # fmt: skip
    parser.add_argument("--alpha", type=float, default=0.05, help="chance of a wrong ELO1 (0.05)")
    parser.add_argument("--beta", type=float, default=0.05, help="chance of a wrong ELO0 (0.05)")
    run.configure_settings(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Play, and print the table and the verdict on stdout."""
    from evaluation.sprt import Sprt

    test = None
    if arguments.sprt is not None:
        test = Sprt.parse(arguments.sprt, arguments.alpha, arguments.beta)
        arguments.openings = arguments.openings or SPRT_OPENINGS
    run.announce(arguments)
    from evaluation.duel import play_match

    with run.Progress("games", arguments.quiet) as progress:
        settings = run.settings(arguments, progress)
        match = play_match([arguments.one, arguments.other], sprt=test, **settings)
    print(getattr(match.table, arguments.format)())
    if arguments.format == "text":
        print(f"\n{match.report()}\ndigest {match.digest}")
        if progress.before:
            print(f"{progress.before} games were there already")
    return 0
