"""What the benchmarks share: how something is timed, compared, and printed.

A benchmark is a module with ``run()``, which gives its table, to be printed. One that
has options declares them in ``configure(parser)`` and prints in ``execute(arguments)``, which
returns the exit code, or None for 0.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from c4env.evaluation.cli.output import say, show
from c4env.evaluation.tables import Column, Table

T = TypeVar("T")
K = TypeVar("K")


def timed(work: Callable[[], T], repeat: int = 1) -> tuple[float, T]:
    """Processor seconds of the fastest of some calls, and what the last one returned."""
    least = float("inf")
    for _ in range(repeat):
        started = time.process_time()
        result = work()
        least = min(least, time.process_time() - started)
    return least, result


def in_turns(works: Mapping[K, Callable[[int], float]], repeat: int) -> dict[K, list[float]]:
    """What each returned, called with the number of the repetition.

    They take turns, so that a slow moment of the machine hits all of them.
    """
    found: dict[K, list[float]] = {name: [] for name in works}
    for repetition in range(repeat):
        for name, work in works.items():
            found[name].append(work(repetition))
    return found


def seconds_each(work: Callable[[], int], seconds: float) -> float:
    """Processor seconds for each thing that calls of ``work`` count, measured for so long."""
    count, started = 0, time.process_time()
    while (spent := time.process_time() - started) < seconds or not count:
        count += work()
    return spent / count


def rounded_ratio(ratio: float) -> str:
    """A ratio with two digits, since more would differ in the next run."""
    return f"{float(f'{ratio:.2g}'):,g}"


def show_as_measured(
    columns: Mapping[str, str | Callable[[Any], str]],
    rows: Iterable[Sequence[Any]],
    arguments: argparse.Namespace,
) -> int:
    """Print a table with these columns and formats, as text each row as soon as it is measured.

    Returns:
        the exit code: 1 when a row has something wrong, which its last cell counts.
    """
    wrong = 0

    def checked() -> Iterator[Sequence[Any]]:
        nonlocal wrong
        for row in rows:
            wrong += row[-1]
            yield row

    if arguments.format == "text":
        wide = [16, *(max(9, len(name)) for name in [*columns][1:])]
        heading = (f"{name:>{width}}" for name, width in zip(columns, wide, strict=True))
        say("  ".join(heading), sys.stdout)
        for row in checked():
            cells = [Column(*c).shown(cell) for c, cell in zip(columns.items(), row, strict=True)]
            shown = (f"{cell:>{width}}" for cell, width in zip(cells, wide, strict=True))
            say("  ".join(shown), sys.stdout)  # at once, into a pipe too
    else:
        show(Table.of(columns, checked()), arguments)
    return int(wrong > 0)
