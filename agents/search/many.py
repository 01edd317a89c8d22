"""Fixed-depth search of many boards in one kernel, in one or more threads."""

from __future__ import annotations

from typing import Final

import numpy as np

from c4env.agents.search.threads import STOPPED, UNWATCHED, WORDS, run_interruptibly
from c4env.arrays import Int64s
from c4env.jit import HEURISTIC, kernel

from ...bitboard import COLUMNS
from ...envs.vectorized.batch import shares
from ..heuristics.names import Heuristic
from .fixed_depth import INNER, best_column

QUICK_LEAVES: Final = 10**6  # a search of at most this many leaves runs in the caller's thread


@kernel(
    f"void(int64[:, ::1], int64, {HEURISTIC}, {INNER}, int64, int64[::1], int64[::1], int64, int64,"
    " int64[::1])",
    nogil=True,
)
def best_columns(
    boards: Int64s,
    depth: int,
    heuristic: Heuristic,
    rules: tuple[float, float, bool, int],
    order: int,
    columns: Int64s,
    nodes: Int64s,
    start: int,
    stop: int,
    work: Int64s,
) -> None:
    """Write the best columns and the node counts of boards ``start`` to ``stop - 1``.

    The kernel returns early once ``work[STOPPED]`` is set (``c4env.agents.search.threads``).
    """
    for i in range(start, stop):
        if work[STOPPED]:
            return
        mine, theirs = int(boards[i, 0]), int(boards[i, 1])
        columns[i], _, nodes[i] = best_column(
            mine, theirs, depth, True, True, heuristic, rules, order, work
        )


def search_many(
    boards: Int64s,
    depth: int,
    heuristic: Heuristic,
    rules: tuple[float, float, bool, int],
    order: int,
    threads: int,
) -> tuple[Int64s, Int64s]:
    """Return the best columns and the node counts of M boards; Ctrl-C stops a long search."""
    columns, nodes = np.empty((2, len(boards)), np.int64)

    def search(work: Int64s) -> None:
        start, stop = spans.pop()
        best_columns(boards, depth, heuristic, rules, order, columns, nodes, start, stop, work)

    spans = shares(len(boards), threads)
    if len(spans) == 1 and len(boards) * COLUMNS**depth <= QUICK_LEAVES:
        search(UNWATCHED)
    else:
        workspaces = [np.zeros(WORDS, np.int64) for _ in spans]
        run_interruptibly(search, workspaces, wait_for=len(spans))
    return columns, nodes
