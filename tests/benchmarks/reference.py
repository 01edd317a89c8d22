"""The chain system's alpha-beta in pure Python, as a program of its kind is written.

A list of rows, loops over windows, a copy of nothing: the baseline that native search is
measured against. It searches exactly as :mod:`c4env.agents.search.fixed_depth` does, so that
columns and node counts agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

ROWS: Final = 6
COLUMNS: Final = 7
INNER_ORDER: Final = (3, 2, 4, 1, 5, 0, 6)
WIN: Final = 1_000_000.0

Board = list[list[int]]  # [row from the bottom][column]; 0 empty, 1 searching side, 2 other

WINDOWS: Final = [
    tuple((row + k * up, column + k * right) for k in range(4))
    for row in range(ROWS)
    for column in range(COLUMNS)
    for up, right in ((0, 1), (1, 0), (1, 1), (-1, 1))
    if 0 <= row + 3 * up < ROWS and column + 3 * right < COLUMNS
]


def evaluate(board: Board) -> float:
    """The chain heuristic for side 1; WIN or -WIN when a side has four."""
    counts = [0, 0, 0, 0]
    for window in WINDOWS:
        cells = [board[row][column] for row, column in window]
        own, other = cells.count(1), cells.count(2)
        if own == 4:
            return WIN
        if other == 4:
            return -WIN
        if own and not other:
            counts[own] += 1
        elif other and not own:
            counts[other] -= 1
    centre = sum({0: 0, 1: 3, 2: -3}[row[COLUMNS // 2]] for row in board)
    return ((0.01 * counts[1] + 0.04 * counts[2]) + 0.1 * counts[3]) + centre


def alphabeta(
    board: Board, depth: int, alpha: float, beta: float, maximise: bool
) -> tuple[float, int]:
    """Value for side 1 and nodes visited."""
    value = evaluate(board)
    columns = [column for column in INNER_ORDER if not board[ROWS - 1][column]]
    if abs(value) == WIN or not columns or depth == 0:
        return value, 1
    best, nodes = (-float("inf") if maximise else float("inf")), 1
    for column in columns:
        row = next(r for r in range(ROWS) if not board[r][column])
        board[row][column] = 1 if maximise else 2
        value, searched = alphabeta(board, depth - 1, alpha, beta, not maximise)
        board[row][column] = 0
        nodes += searched
        if maximise:
            best = max(best, value)
            alpha = max(alpha, best)
        else:
            best = min(best, value)
            beta = min(beta, best)
        if alpha >= beta:
            break
    return best, nodes


def choose(moves: Sequence[int], depth: int) -> tuple[int, int]:
    """Column for the side to move after these columns, ``depth`` plies ahead, and nodes."""
    board = [[0] * COLUMNS for _ in range(ROWS)]
    for ply, column in enumerate(moves):
        row = next(r for r in range(ROWS) if not board[r][column])
        board[row][column] = 1 if (len(moves) - ply) % 2 == 0 else 2
    chosen, best, nodes = -1, -float("inf"), 0
    for column in range(COLUMNS):
        if board[ROWS - 1][column]:
            continue
        row = next(r for r in range(ROWS) if not board[r][column])
        board[row][column] = 1
        value, searched = alphabeta(board, depth - 1, -float("inf"), float("inf"), False)
        board[row][column] = 0
        nodes += searched
        if value > best:
            chosen, best = column, value
    return chosen, nodes
