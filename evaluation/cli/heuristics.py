"""Compare heuristics without search: c4 heuristics chain window --on SET ...

How well do their values order positions whose exact score is known? Rank correlations of
value and score, and how often the value names the winner, also by ply. Without a name, all
heuristics of the zoo are compared; package.module:function names one of your own.

A SET is a file of `moves score` lines, or begin-easy, begin-medium, begin-hard, middle-easy,
middle-medium or end-easy, which is then made from the seed.
"""

from __future__ import annotations

import argparse

from c4env.evaluation.cli.options import add_format, add_sets, add_settings, at_least
from c4env.evaluation.cli.output import show
from c4env.evaluation.cli.progress import Progress


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("heuristics", nargs="*", metavar="NAME", help="(default: all of the zoo)")
    add_sets(parser, required=True)
    add_settings(parser, "seed")
    add_format(parser)


def execute(arguments: argparse.Namespace) -> None:
    from c4env.agents.heuristics.names import HEURISTICS, load
    from c4env.evaluation.exact.heuristics import compare_heuristics
    from c4env.evaluation.exact.labelled import labelled_sets

    at_least(arguments, 0, "seed")
    names = arguments.heuristics or list(HEURISTICS)
    for name in names:
        load(name)  # an error now rather than after the sets are made
    positions = labelled_sets(arguments.on, arguments.count, arguments.seed)
    with Progress("comparisons", arguments.quiet) as progress:
        table = compare_heuristics(names, positions, arguments.seed, progress.watch)
    show(table, arguments)
