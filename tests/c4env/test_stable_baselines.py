"""Boards for Stable-Baselines3: what that library asks of them."""

import numpy as np
import pytest

from c4env.agents.pool import Pool
from c4env.errors import InvalidOption
from tests.helpers.policies import rightmost

pytest.importorskip("stable_baselines3", reason="needs stable-baselines3: the extra sb3")

from c4env.envs.stable_baselines import ConnectFourVecEnv


def test_another_opponent_plays_on_all_boards():
    envs = ConnectFourVecEnv(3, lambda o: 0, seat=0)
    envs.reset()
    envs.set_attr("opponent", rightmost)
    assert envs.get_attr("opponent") == [rightmost] * 3
    seen, *_ = envs.step(np.array([3, 3, 3]))
    assert (np.argwhere(seen.reshape(3, 6, 7, 2)[..., 1])[:, 2] == 6).all()
    for name, value, indices in (("seat", 1, None), ("opponent", rightmost, [0])):
        with pytest.raises(AttributeError, match=f"{name}.*only 'opponent' of all boards"):
            envs.set_attr(name, value, indices)
    with pytest.raises(InvalidOption, match="opponent=None"):
        envs.set_attr("opponent", None)


def test_a_pool_plays_on_all_boards_and_counts():
    pool = Pool({"random": 1, rightmost: 1}, seed=1)
    envs = ConnectFourVecEnv(16, pool)
    envs.seed(1)
    envs.reset()
    ended = 0
    for _ in range(40):
        _, _, dones, _ = envs.step(envs.action_masks().argmax(axis=1))
        ended += int(dones.sum())
    counts = np.array(list(pool.results.values())).sum(axis=1)
    assert counts.sum() == ended
    assert (counts > 0).all()
    envs.set_attr("opponent", "greedy")
    envs.step(envs.action_masks().argmax(axis=1))
