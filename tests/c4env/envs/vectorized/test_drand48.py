"""The generator of random numbers that kernels draw from."""

from __future__ import annotations

import pytest

from c4env.envs.vectorized.drand48 import STATES, below, next_random


def test_the_generator_is_drand48() -> None:
    """The first numbers of ``srand48(0)``, which sets the state to 0x330E, and ``drand48()``."""
    state = 0x330E
    drawn = []
    for _ in range(3):
        state = next_random(state)
        drawn.append(state / STATES)
    assert drawn == pytest.approx([0.170828036, 0.749901980, 0.096371656], abs=1e-8)


def test_numbers_below_a_bound_share_the_states_evenly() -> None:
    for count in (1, 2, 7, 1000):
        for number in range(count):
            middle = (2 * number + 1) * STATES // (2 * count)
            assert below(middle, count) == number
    assert below(STATES - 1, 1 << 31) == (1 << 31) - 1
