"""Positions to label, from games of erring players: a kernel."""

import numpy as np
from numpy.typing import NDArray

from c4env.agents.heuristics.evaluations import evaluate
from c4env.agents.heuristics.weights import WEIGHTS
from c4env.arrays import Int64s
from c4env.bitboard import COLUMNS, drop, has_won, playable, popcount, safe_moves, winning_cells
from c4env.jit import kernel

NOISE = 300.0  # the most that is added to the value of a move, in units of the evaluation


@kernel("int64(float32[:, :, ::1], int64[::1], int64[::1])", nogil=True)
def play_games(noise: NDArray[np.float32], mine: Int64s, theirs: Int64s) -> int:
    """Play games of so many plies; write down the positions that are quiet, and how many.

    A game begins with random discs. Then each move is at random with a chance that differs from
    game to game; else it wins, or blocks, or is the best of those that do not lose at once by a
    static evaluation with noise. The last disc is at random in half of the games. Games that
    ended before are left out. ``noise`` is ``[N, plies, 9]``, 0 to 1, the randomness of N games.
    """
    found = 0
    plies = noise.shape[1]
    for game in range(len(noise)):
        random_discs = int(noise[game, 0, 8] * (plies + 1))
        errs = 0.5 * noise[game, 1, 8] ** 2
        spread = NOISE * noise[game, 2, 8] ** 2
        off = noise[game, 3, 8] < 0.5
        own, other = 0, 0
        for ply in range(plies):
            occupied = own | other
            moves = playable(occupied)
            drawn = ply < random_discs or (off and ply == plies - 1) or noise[game, ply, 7] < errs
            if not drawn:
                wins = winning_cells(own) & moves
                if wins:
                    moves = wins
                else:
                    safe = safe_moves(moves, winning_cells(other))
                    moves = safe if safe else moves
            best = -np.inf
            chosen = 0
            for column in range(COLUMNS):
                cell = moves & drop(occupied, column)
                if cell:
                    value = float(noise[game, ply, column])
                    if not drawn:
                        value = spread * value - evaluate(other, own | cell, WEIGHTS)
                    if value > best:
                        best = value
                        chosen = cell
            own, other = other, own | chosen
            if has_won(other):
                break
        occupied = own | other
        urgent = (winning_cells(own) | winning_cells(other)) & playable(occupied)
        if popcount(occupied) == plies and not urgent and not has_won(other):
            mine[found] = own
            theirs[found] = other
            found += 1
    return found
