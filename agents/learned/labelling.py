"""Kernels that make labels: positions from games of erring players, and their exact worth.

The question asked of a column is only whether it keeps what the position is worth, win or draw:
a search with a null window, several times quicker than an exact score.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from agents.search.threats import evaluate
from agents.search.weights import WEIGHTS
from agents.solver.book.twelve import PLIES as BOOK_PLIES
from agents.solver.book.twelve import resolve
from agents.solver.search.driver import solve
from agents.solver.search.lowlevel import POINTER, pointer
from c4env.arrays import Int8s, Int64s
from c4env.bitboard import (
    BOARD,
    CENTRE_FIRST,
    COLUMNS,
    drop,
    has_won,
    playable,
    popcount,
    safe_moves,
    winning_cells,
    winning_moves,
)
from c4env.jit import kernel

_int64 = types.int64
_words = types.int64[::1]
_codes = types.int32[::1]
_bytes = types.int8[::1]

NOISE = 300.0  # the most that is added to the value of a move, in units of the evaluation


@kernel(types.boolean(_int64, _int64))
def quiet(mine: int, theirs: int) -> bool:
    """Neither side could win with the next disc."""
    return (winning_cells(mine) | winning_cells(theirs)) & playable(mine | theirs) == 0


@kernel(types.int64(types.float32[:, :, ::1], _words, _words), nogil=True)
def play_games(noise: NDArray[np.float32], mine: Int64s, theirs: Int64s) -> int:
    """Play games of so many plies; write down the positions that are quiet, and how many.

    A game begins with random discs. Then each move is at random with a chance that differs from
    game to game; else it wins, or blocks, or is the best of those that do not lose at once by a
    static evaluation with noise. The last disc is at random in half of the games. Games that
    ended before are left out.

    Args:
        noise: ``[N, plies, 9]`` numbers from 0 to 1, the randomness of N games.
        mine: [N], written to: bitboards of the side to move.
        theirs: [N], written to.
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
        if popcount(own | other) == plies and quiet(own, other) and not has_won(other):
            mine[found] = own
            theirs[found] = other
            found += 1
    return found


@kernel(f"boolean({POINTER}, {POINTER}, int32[::1], int8[::1], int64, int64, int64)")
def is_above(
    table: Any,
    work: Any,
    codes: NDArray[np.int32],
    ends: Int8s,
    mine: int,
    theirs: int,
    alpha: int,
) -> bool:
    """Whether the exact score of a position that is not over is above ``alpha``.

    Args:
        table: the solver's transposition table.
        work: its workspace.
        codes: of the 12-ply book (``agents.solver.book.twelve``), which answers up to there.
        ends: of the book.
        alpha: what the score is compared with.
    """
    occupied = mine | theirs
    plies = popcount(occupied)
    if plies > BOOK_PLIES:
        return bool(solve(table, work, mine, theirs, alpha, alpha + 1) > alpha)
    if plies == BOOK_PLIES:
        return bool(resolve(codes, ends, mine, theirs, plies) > alpha)
    if winning_moves(mine, theirs):
        return True  # alpha is -1 or 0
    for column in CENTRE_FIRST:
        cell = drop(occupied, column)
        if cell and not is_above(table, work, codes, ends, theirs, mine | cell, -alpha - 1):
            return True
    return False


@kernel(
    types.void(_words, _words, _codes, _bytes, _words, _words, _bytes, types.int8[:, ::1]),
    nogil=True,
)
def label_batch(
    table: Int64s,
    work: Int64s,
    codes: NDArray[np.int32],
    ends: Int8s,
    mine: Int64s,
    theirs: Int64s,
    signs: Int8s,
    keeps: Int8s,
) -> None:
    """What N quiet positions are worth, and which columns keep it.

    Args:
        table: the solver's transposition table.
        work: its workspace.
        codes: of the 12-ply book.
        ends: of the book.
        mine: [N] bitboards of the sides to move.
        theirs: [N].
        signs: [N], written to: 1, 0 or -1: the side to move wins, draws or loses.
        keeps: [N, 7], written to: 1 where a column leads to no less, 0 where it does, -1 if full.
    """
    words, frames = pointer(table), pointer(work)
    for i in range(len(mine)):
        own, other = int(mine[i]), int(theirs[i])
        occupied = own | other
        sign = -1
        if is_above(words, frames, codes, ends, own, other, 0):
            sign = 1
        elif is_above(words, frames, codes, ends, own, other, -1):
            sign = 0
        signs[i] = sign
        for column in range(COLUMNS):
            cell = drop(occupied, column)
            if cell == 0:
                keeps[i, column] = -1
            elif sign < 0:
                keeps[i, column] = 1
            elif occupied | cell == BOARD:
                keeps[i, column] = sign == 0
            else:
                keeps[i, column] = not is_above(
                    words, frames, codes, ends, other, own | cell, -sign
                )
