"""What chance decides on many boards, as kernels: simple opponents, seats, openings.

Every board has its own stream of random numbers, so that its games depend on its own
seed and on nothing that happens on other boards (``c4env.envs.many.drand48``).
"""

from __future__ import annotations

__any_board__ = True

from typing import Final

import numpy as np
from numpy.typing import NDArray

from c4env.arrays import Bools, Int8s, Int64s
from c4env.bitboard import playable, popcount, winning_moves
from c4env.envs.asking import NATIVE
from c4env.envs.many.drand48 import STATES, below, next_random
from c4env.envs.many.kernels import ONGOING, play_cell
from c4env.jit import kernel

LEVELS: Final = {name: level for level, name in enumerate(NATIVE)}
GREEDY: Final = LEVELS["greedy"]

RANDOM_SEAT: Final = 2


def streams(seeds: NDArray[np.uint64]) -> Int64s:
    """States int64 ``[N]`` of the streams with these seeds.

    The seeds are mixed (by the finaliser of SplitMix64), since streams of neighbouring
    states would begin alike.
    """
    mixed = seeds + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((mixed ^ (mixed >> np.uint64(31))) & np.uint64(STATES - 1)).astype(np.int64)


@kernel("int64(int64[::1], int64, int64)", nogil=True)
def draw(states: Int64s, i: int, count: int) -> int:
    """A number below ``count`` (at most 2**31) from stream i."""
    states[i] = next_random(int(states[i]))
    return below(int(states[i]), count)


@kernel("int64(int64, int64, int64)", nogil=True)
def candidates(mine: int, theirs: int, level: int) -> int:
    """The cells among which chance decides for an opponent.

    ``"random"`` takes any legal column. ``"greedy"`` wins if it can, else blocks if it must,
    else takes any legal column.
    """
    if level == GREEDY:
        urgent = winning_moves(mine, theirs)
        if urgent == 0:
            urgent = winning_moves(theirs, mine)
        if urgent:
            return urgent
    return playable(mine | theirs)


@kernel("int64(int64, int64, int64, int64[::1], int64)", nogil=True)
def choose(mine: int, theirs: int, level: int, states: Int64s, i: int) -> int:
    """The cell that an opponent plays on board i, drawn among its candidates."""
    cells = candidates(mine, theirs, level)
    for _ in range(draw(states, i, popcount(cells))):
        cells &= cells - 1
    return cells & -cells


@kernel("void(int64[:, ::1], int8[::1], int8[::1], int64[::1], int64, int64, int64)", nogil=True)
def reply(
    boards: Int64s, results: Int8s, seats: Int8s, states: Int64s, level: int, start: int, stop: int
) -> None:
    """One ply of the opponent wherever it is its turn."""
    for i in range(start, stop):
        mine = int(boards[i, 0])
        theirs = int(boards[i, 1])
        if results[i] == ONGOING and popcount(mine | theirs) & 1 != seats[i]:
            results[i] = play_cell(boards, i, choose(mine, theirs, level, states, i))


@kernel(
    "void(int64[:, ::1], int8[::1], int8[::1], int64[::1], int64[:, ::1], int64, boolean[::1],"
    " int64, int64)",
    nogil=True,
)
def begin(
    boards: Int64s,
    results: Int8s,
    seats: Int8s,
    states: Int64s,
    openings: Int64s,
    seat: int,
    where: Bools,
    start: int,
    stop: int,
) -> None:
    """New games on the chosen boards: an opening each, a seat each if it is ``RANDOM_SEAT``."""
    for i in range(start, stop):
        if not where[i]:
            continue
        k = draw(states, i, len(openings)) if len(openings) > 1 else 0
        boards[i, 0] = openings[k, 0]
        boards[i, 1] = openings[k, 1]
        results[i] = ONGOING
        seats[i] = draw(states, i, 2) if seat == RANDOM_SEAT else seat
