"""Measure speed beside what it is compared with, in one run, as ratios.

python -m tests.benchmarks env      a user's loops beside PettingZoo's and pgx's environments
python -m tests.benchmarks solver   the exact solver beside BitBully (--help: its options)
python -m tests.benchmarks single   the parts of one environment's step
python -m tests.benchmarks rewards  rewards of exact play per second, by the number of discs
python -m tests.benchmarks threads  the shipped network with two threads and with one
python -m tests.benchmarks gpu      TensorEnv and JaxEnv beside pgx, on a GPU

env, solver and gpu need the extra `peers`.
"""

import sys
from collections.abc import Sequence

from tests.makers.__main__ import dispatch

NAMES = ("env", "solver", "single", "rewards", "threads", "gpu")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one of them; returns the exit code."""
    return dispatch("tests.benchmarks", NAMES, argv)


if __name__ == "__main__":
    sys.exit(main())
