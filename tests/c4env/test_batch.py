"""Boards as arrays, there and back; the random numbers of each board."""

import pytest

from c4env.envs.batch import bitboards, boards_from, observed, positions_of
from c4env.envs.drand48 import STATES, below, next_random
from tests.rules.positions import random_positions


def test_arrays_of_boards_hold_the_positions():
    positions = random_positions(40, seed=5, most=40)
    boards = bitboards(positions)
    assert positions_of(boards) == positions
    assert (boards_from(observed(boards)) == boards).all()


def test_the_generator_is_drand48():
    """The first numbers of ``srand48(0)``, which sets the state to 0x330E, and ``drand48()``."""
    state = 0x330E
    drawn = []
    for _ in range(3):
        state = next_random(state)
        drawn.append(state / STATES)
    assert drawn == pytest.approx([0.170828036, 0.749901980, 0.096371656], abs=1e-8)


def test_numbers_below_a_bound_share_the_states_evenly():
    for count in (1, 2, 7, 1000):
        for number in range(count):
            middle = (2 * number + 1) * STATES // (2 * count)
            assert below(middle, count) == number
    assert below(STATES - 1, 1 << 31) == (1 << 31) - 1
