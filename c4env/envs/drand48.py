"""Random numbers for kernels: the 48-bit linear congruential generator of POSIX ``drand48``.

:func:`seed_numba` seeds Numba's own generators, from which users' compiled functions draw.
"""

from __future__ import annotations

import random
from typing import Final

import numpy as np

from c4env.jit import kernel

STATES: Final = 1 << 48  # number of states; a state is less


@kernel("int64(int64)")
def next_random(state: int) -> int:
    """Return the next state of the generator."""
    return (state * 25214903917 + 11) & (STATES - 1)


@kernel("int64(int64, int64)")
def below(state: int, count: int) -> int:
    """Return a number 0..``count - 1`` from a state's upper 31 bits; ``count`` <= 2**31."""
    return ((state >> 17) * count) >> 31


@kernel("void(int64)")
def seed_numba(seed: int) -> None:
    """Seed what ``random`` and ``numpy.random`` are in compiled functions of this thread."""
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002  # the generator that such functions use
