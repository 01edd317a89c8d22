"""The random numbers of ``c4env.envs.streams`` for kernels.

:func:`seed_numba` seeds Numba's own generators, from which users' compiled functions draw.
"""

from __future__ import annotations

import random

import numpy as np

from c4env.envs import streams
from c4env.jit import kernel

next_random = kernel("int64(int64)")(streams.next_random)
below = kernel("int64(int64, int64)")(streams.below)


@kernel("void(int64)")
def seed_numba(seed: int) -> None:
    """Seed what ``random`` and ``numpy.random`` are in compiled functions of this thread."""
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002  # the generator that compiled functions use
