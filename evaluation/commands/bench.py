"""Measure speed beside what it is compared with, in one run, as ratios.

c4 bench env      every environment beside PettingZoo's (needs pygame-ce)
c4 bench vector   many boards at once, by their number (beside pgx)
c4 bench agents   published searches beside the same rules in pure Python
c4 bench mcts     Monte-Carlo tree search beside OpenSpiel's C++ bot
c4 bench solver   the exact solver beside bitbully (--help: its options)
c4 bench columns  all columns of a position beside its score, and bitbully
c4 bench web      many pages on the web server (needs c4env[web] and httpx)
"""

from __future__ import annotations

import argparse
import importlib
from typing import Final

from c4env.evaluation.commands.options import Parser, add_format
from c4env.evaluation.commands.output import show

BENCHMARKS: Final = ("agents", "columns", "env", "mcts", "solver", "vector", "web")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "benchmark", choices=BENCHMARKS, metavar="BENCHMARK", help=", ".join(BENCHMARKS)
    )
    parser.add_argument(
        "options", nargs=argparse.REMAINDER, metavar="...", help="of the benchmark itself"
    )


def execute(arguments: argparse.Namespace) -> int:
    benchmark = importlib.import_module(f"c4env.evaluation.benchmarks.{arguments.benchmark}")
    parser = Parser(prog=f"c4 bench {arguments.benchmark}", description=benchmark.__doc__)
    if hasattr(benchmark, "configure"):
        benchmark.configure(parser)
    add_format(parser)
    chosen = parser.parse_args(arguments.options)
    if hasattr(benchmark, "execute"):
        return int(benchmark.execute(chosen) or 0)
    show(benchmark.run(), chosen)
    return 0
