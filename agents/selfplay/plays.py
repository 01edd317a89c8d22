"""The games of a network against itself, one ply at a time on all boards.

A sample to learn from is a position of a game, with the search's policy, and with the mean of the
search's value and the game's result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numba import types
from numpy.typing import NDArray

from c4env.agents.sampling.tree import OPEN, tactical_status
from c4env.agents.selfplay.gumbel import PolicyOutput
from c4env.arrays import Float64s, Int8s, Int64s
from c4env.bitboard import BOARD, CELLS, COLUMNS, drop, has_won, popcount
from c4env.jit import kernel

FROM_EMPTY: Final = 0.1  # of the games; the others begin with 1 to RANDOM_PLIES random discs
RANDOM_PLIES: Final = 24
KNOWN_SHARE: Final = 0.25  # of the forced and the proven positions go to the replay buffer
SEARCHED_SHARE: Final = 0.5  # share of the search's value in a target; the rest is the result's

ONGOING, DRAWN, WON = 0, 1, 2  # results of a game

SAMPLE: Final = np.dtype(
    [
        ("board", np.int64, 2),  # the side to move first
        ("policy", np.float16, COLUMNS),
        ("value", np.float32),  # the expected result; nan if not known yet
        ("proven", np.bool_),  # the value is the result under best play
    ]
)
Samples = NDArray[np.void]


@kernel("int8[::1](int64[:, ::1], int64[::1])", nogil=True)
def play_columns(boards: Int64s, columns: Int64s) -> Int8s:
    """Play a column on each of the boards ``[N, 2]``; return the results ``[N]``."""
    results = np.zeros(len(boards), np.int8)
    for i in range(len(boards)):
        mine, theirs = int(boards[i, 0]), int(boards[i, 1])
        mine |= drop(mine | theirs, int(columns[i]))
        boards[i, 0], boards[i, 1] = theirs, mine
        if has_won(mine):
            results[i] = WON
        elif mine | theirs == BOARD:
            results[i] = DRAWN
    return results


@kernel(types.void(types.int64[:, ::1], types.int8[::1], types.npy_rng, types.float64), nogil=True)
def begin_games(
    boards: Int64s, results: Int8s, generator: np.random.Generator, from_empty: float
) -> None:
    """Begin a new game where one has ended: empty, or after random moves.

    No random move lets the opponent win at once. The moves stop where one of the next two discs
    decides the game.
    """
    for i in range(len(boards)):
        if results[i] == ONGOING:
            continue
        plies = 0
        if generator.random() >= from_empty:
            plies = int(generator.integers(1, RANDOM_PLIES + 1))
        mine = theirs = 0
        for _ in range(plies):
            score, cells = tactical_status(mine, theirs)
            if score != OPEN:
                break
            for _ in range(int(generator.integers(0, popcount(cells)))):
                cells &= cells - 1
            mine, theirs = theirs, mine | (cells & -cells)
        boards[i, 0], boards[i, 1] = mine, theirs


class SelfPlayGames:
    """Games of a network against itself on many boards, ``boards`` ``[N, 2]``."""

    def __init__(self, boards: int, generator: np.random.Generator) -> None:
        self.generator = generator
        self.boards: Int64s = np.zeros((boards, 2), np.int64)
        self.moves: Samples = np.zeros((boards, CELLS), SAMPLE)  # of the running games, by ply
        begin_games(self.boards, np.full(boards, WON, np.int8), generator, FROM_EMPTY)

    def play(self, search: Callable[[Int64s, Float64s], PolicyOutput]) -> Samples:
        """Play one ply on every board; return samples of the games that ended.

        Most positions that are forced or proven are left out.
        """
        output = search(self.boards, self.generator.gumbel(size=(len(self.boards), COLUMNS)))
        plies = np.bitwise_count(self.boards.sum(axis=1))
        at = np.arange(len(plies)), plies
        self.moves["board"][at], self.moves["policy"][at] = self.boards, output.policies
        self.moves["value"][at], self.moves["proven"][at] = output.values, output.proven
        results = play_columns(self.boards, output.columns)
        over = results != ONGOING
        samples = self._samples(over, plies[over], results[over] == WON)
        self.moves[over] = 0
        begin_games(self.boards, results, self.generator, FROM_EMPTY)
        return samples

    def _samples(
        self, over: NDArray[np.bool_], last: NDArray[np.uint8], won: NDArray[np.bool_]
    ) -> Samples:
        """Return samples of games that are over, by their last plies and whether that ply won."""
        moves = self.moves[over]
        played = moves["policy"].any(axis=2)
        # The side of the last move won, the side of the move before lost, and so on.
        signs = (-1.0) ** (last[:, np.newaxis] - np.arange(CELLS))
        moves, result = moves[played], (signs * won[:, np.newaxis])[played]
        is_free = ~np.isnan(moves["value"])  # the move was not forced
        searched = np.where(is_free, moves["value"], result)
        mean = SEARCHED_SHARE * searched + (1 - SEARCHED_SHARE) * result
        moves["value"] = np.where(moves["proven"], searched, mean)
        is_open = is_free & ~moves["proven"]
        samples: Samples = moves[is_open | (self.generator.random(len(moves)) < KNOWN_SHARE)]
        return samples
