"""Kernels of ``greedy`` for one board and for many boards."""

from __future__ import annotations

import numpy as np

from c4env.agents.heuristics.heuristic import WIN, HeuristicFunction
from c4env.arrays import Int64s
from c4env.bitboard import CENTRE_FIRST, drop, has_won, winning_moves
from c4env.jit import HEURISTIC, kernel


@kernel(f"int64(int64, int64, {HEURISTIC})", nogil=True)
def greedy_column(mine: int, theirs: int, heuristic: HeuristicFunction) -> int:
    """Return the column to play; -1 if the game is over or a heuristic value is unusable."""
    if has_won(theirs):
        return -1
    urgent = winning_moves(mine, theirs)
    if urgent == 0:
        urgent = winning_moves(theirs, mine)
    best = -WIN
    chosen = -1
    for column in CENTRE_FIRST:
        cell = drop(mine | theirs, column)
        if urgent & cell:
            return column
        if urgent or not cell:
            continue
        value = heuristic(mine | cell, theirs)
        if not -WIN < value < WIN:
            return -1
        if value > best:
            best = value
            chosen = column
    return chosen


@kernel(f"int64[::1](int64[:, ::1], {HEURISTIC})", nogil=True)
def greedy_columns(boards: Int64s, heuristic: HeuristicFunction) -> Int64s:
    """Return :func:`greedy_column`, int64 ``[M]``, of each board in ``[M, 2]``."""
    columns = np.empty(len(boards), np.int64)
    for i in range(len(boards)):
        columns[i] = greedy_column(int(boards[i, 0]), int(boards[i, 1]), heuristic)
    return columns
