"""Measure speed beside what it is compared with, in one run, as ratios.

python -m tests.benchmarks env      every environment beside PettingZoo's (needs pygame-ce)
python -m tests.benchmarks vector   many boards at once, by their number (beside pgx)
python -m tests.benchmarks agents   published searches beside the same rules in pure Python
python -m tests.benchmarks published  naive search beside alpha-beta; negamax's published nodes
python -m tests.benchmarks mcts     Monte-Carlo tree search beside OpenSpiel's C++ bot
python -m tests.benchmarks solver   the exact solver beside bitbully (--help: its options)
python -m tests.benchmarks columns  all columns of a position beside its score, and bitbully
python -m tests.benchmarks web      many pages on the web server (needs c4env[web] and httpx)
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tests.helpers.dispatch import dispatch


def main(argv: Sequence[str] | None = None) -> int:
    """Run one of them; returns the exit code."""
    return dispatch("tests.benchmarks", NAMES, argv)


NAMES = ("agents", "columns", "env", "mcts", "published", "solver", "vector", "web")

if __name__ == "__main__":
    sys.exit(main())
