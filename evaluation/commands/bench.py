"""Measure speed beside what it is compared with, in one run, as ratios."""

from __future__ import annotations

import argparse
import importlib
from typing import Final

BENCHMARKS: Final = {
    "env": "the AEC environments beside PettingZoo's connect four (needs pygame-ce)",
    "vector": "batched environments and their growth with the boards (beside pgx where installed)",
    "agents": "published searches beside pure-Python versions of the same rules",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "benchmark",
        choices=sorted(BENCHMARKS),
        help="; ".join(f"{name}: {text}" for name, text in BENCHMARKS.items()),
    )


def execute(arguments: argparse.Namespace) -> int:
    """Run the benchmark and print its table."""
    _, table = importlib.import_module(f"evaluation.benchmarks.{arguments.benchmark}").run()
    print(table)
    return 0
