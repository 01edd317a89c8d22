"""Boards as arrays: the same rules as Position, one ply on all of them at once."""

import random

import numpy as np
import pytest

from c4env import Position, observe
from c4env.envs.vectorized.batch import Batch, boards_from, positions_of
from c4env.envs.vectorized.drand48 import STATES, below, next_random
from c4env.envs.vectorized.kernels import DRAWN, ONGOING, WON_BY_0, WON_BY_1


def check_against_positions(batch, positions):
    """Everything a batch shows is what the positions say."""
    planes, masks = batch.observe()
    assert planes.shape == (len(positions), 6, 7, 2)
    assert masks.shape == (len(positions), 7)
    assert planes.dtype == masks.dtype == np.int8
    assert batch.positions() == positions == positions_of(boards_from(planes))
    for i, position in enumerate(positions):
        expected = observe(position)
        assert np.array_equal(planes[i], expected["observation"])
        assert np.array_equal(masks[i], expected["action_mask"])
        assert batch.over[i] == (position.outcome is not None)
        assert batch.plies[i] == position.plies
        code = ONGOING
        if position.outcome is not None:
            code = {0: WON_BY_0, 1: WON_BY_1, None: DRAWN}[position.outcome.winner]
        assert batch.results[i] == code


@pytest.mark.parametrize("copy", [True, False])
def test_random_games(copy):
    choose = random.Random(5)
    size = 20
    batch, positions = Batch(size, copy=copy), [Position() for _ in range(size)]
    ended = 0
    for _ in range(70):
        check_against_positions(batch, positions)
        actions = [choose.choice(position.legal_columns()) for position in positions]
        rewards = batch.step(actions)
        positions = [p.play(c) for p, c in zip(positions, actions, strict=True)]
        check_against_positions(batch, positions)
        for i, position in enumerate(positions):
            expected = [0.0, 0.0]
            if position.outcome is not None and position.outcome.winner is not None:
                expected = [1.0, -1.0] if position.outcome.winner == 0 else [-1.0, 1.0]
            assert rewards[i].tolist() == expected
        ended += int(batch.over.sum())
        positions = [Position() if p.outcome else p for p in positions]
        batch.reset(batch.over)
    assert ended > size


def test_reset_to_positions():
    batch = Batch(3)
    batch.reset(positions="445")
    check_against_positions(batch, [Position.parse("445")] * 3)
    batch.reset(where=[True, False, True], positions=["1", Position.parse("77")])
    check_against_positions(batch, [Position.parse(m) for m in ("1", "445", "77")])
    batch.reset(np.array([False, True, False]))
    check_against_positions(batch, [Position.parse(m) for m in ("1", "", "77")])


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
