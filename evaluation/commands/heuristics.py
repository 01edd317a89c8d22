"""Compare heuristics without search: c4 heuristics chain window --on SET ...

How well do their values order positions whose exact score is known? Rank correlations of
value and score, and how often the value names the winner, also by ply. Without a name, all
heuristics of the zoo are compared; package.module:function names one of your own.

A SET is a file of `moves score` lines, or begin-easy, begin-medium, begin-hard, middle-easy,
middle-medium or end-easy, which is then made from the seed.
"""

from __future__ import annotations

import argparse

from evaluation.commands.run import FORMATS, Progress


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("heuristics", nargs="*", metavar="NAME", help="(default: all of the zoo)")
    parser.add_argument(
        "--on", nargs="+", metavar="SET", required=True, help="labelled positions to order"
    )
    parser.add_argument(
        "--count", type=int, metavar="N",
        help="the first N of each set (default: all of a file, 100 of one that is made)",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, help="of sets and intervals (default 0)")
    parser.add_argument("--format", choices=FORMATS, default="text", help="of the table")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")


def execute(arguments: argparse.Namespace) -> int:
    """Compare, and print the table on stdout."""
    from agents.search.heuristics import HEURISTICS, load
    from evaluation.errors import InvalidRun
    from evaluation.truth.heuristics import compare_heuristics
    from evaluation.truth.labelled import labelled_sets

    if arguments.seed < 0:
        raise InvalidRun(f"--seed {arguments.seed}: expected an integer >= 0")
    names = arguments.heuristics or list(HEURISTICS)
    for name in names:
        load(name)  # an error now rather than after the sets are made
    positions = labelled_sets(arguments.on, arguments.count, arguments.seed)
    with Progress("comparisons", arguments.quiet) as progress:
        table = compare_heuristics(names, positions, arguments.seed, progress.watch)
    print(getattr(table, arguments.format)())
    return 0
