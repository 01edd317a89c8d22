"""Streams of random numbers: the 48-bit linear congruential generator of POSIX ``drand48``.

Every board has its own two streams, so its games depend on its seed and not on other boards. One
stream draws the starts and the other draws the opponent's moves, so the starts do not depend on the
opponent.
``c4env.envs.drand48`` compiles the functions.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from c4env.arrays import Int64s

STATES: Final = 1 << 48  # number of states; a state is less

RANDOM_SEAT: Final = 2  # in place of a player: draw a seat for each game


def next_random(state: int) -> int:
    """Return the next state of the generator."""
    return (state * 25214903917 + 11) & (STATES - 1)


def below(state: int, count: int) -> int:
    """Return a number 0..``count - 1`` from a state's upper 31 bits; ``count`` <= 2**31."""
    return ((state >> 17) * count) >> 31


def streams(seeds: NDArray[np.uint64]) -> Int64s:
    """Return the initial states int64 ``[N]`` of streams with seeds uint64 ``[N]``.

    The finaliser of SplitMix64 mixes the seeds, so that neighbouring seeds give different streams.
    """
    mixed = seeds + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((mixed ^ (mixed >> np.uint64(31))) & np.uint64(STATES - 1)).astype(np.int64)


def both_streams(seeds: NDArray[np.uint64]) -> Int64s:
    """Return the initial states int64 ``[2, N]`` of each board's two streams, from N seeds."""
    return streams(np.stack([seeds, ~seeds]))
