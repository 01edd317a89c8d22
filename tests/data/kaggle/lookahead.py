# A ConnectX agent in the way the notebooks write it: a few helpers, numpy on the grid, one
# move looked ahead with a weighted count of windows, ties drawn by lot, the agent last.
import random

import numpy as np


def drop_piece(grid, col, mark, config):
    next_grid = grid.copy()
    rows_free = [r for r in range(config.rows) if grid[r][col] == 0]
    next_grid[max(rows_free)][col] = mark
    return next_grid


def windows(grid, config):
    n = config.inarow
    for r in range(config.rows):
        for c in range(config.columns):
            for dr, dc in ((0, 1), (1, 0), (1, 1), (-1, 1)):
                end_r, end_c = r + dr * (n - 1), c + dc * (n - 1)
                if 0 <= end_r < config.rows and 0 <= end_c < config.columns:
                    yield [grid[r + dr * i][c + dc * i] for i in range(n)]


def score_move(grid, col, mark, config):
    next_grid = drop_piece(grid, col, mark, config)
    total = 0
    for window in windows(next_grid, config):
        mine, theirs = window.count(mark), window.count(mark % 2 + 1)
        if theirs == 0:
            total += 10**mine if mine > 1 else 0
        elif mine == 0 and theirs == config.inarow - 1:
            total -= 5000
    return total


def agent(obs, config):
    grid = np.asarray(obs.board).reshape(config.rows, config.columns)
    valid_moves = [c for c in range(config.columns) if obs.board[c] == 0]
    scores = {col: score_move(grid, col, obs.mark, config) for col in valid_moves}
    best = [col for col in valid_moves if scores[col] == max(scores.values())]
    return random.choice(best)
