"""The mask beside the observation, under the keys a library wants."""

from __future__ import annotations

import warnings

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env

from c4env import ConnectFourEnv
from c4env.envs.masked import MaskInObservation
from c4env.errors import InvalidOption


@pytest.mark.parametrize("dtype", ["int8", "float32", "bool"])
def test_a_wrapped_environment_is_one_of_gymnasiums(dtype):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*different from the unwrapped version")
        check_env(MaskInObservation(ConnectFourEnv(), mask_dtype=dtype), skip_render_check=True)


def test_observation_and_mask_are_those_of_the_environment():
    plain = ConnectFourEnv(layout="planes_first", dtype="float32")
    env = MaskInObservation(ConnectFourEnv(layout="planes_first", dtype="float32"), ("obs", "mask"))
    expected, info = plain.reset(seed=5)
    seen, _ = env.reset(seed=5)
    ended = False
    while not ended:
        assert list(seen) == ["obs", "mask"]
        assert seen in env.observation_space
        assert (seen["obs"] == expected).all()
        assert (seen["mask"] == info["action_mask"]).all()
        assert seen["mask"].any()
        action = int(info["action_mask"].argmax())
        expected, reward, ended, _, info = plain.step(action)
        seen, same_reward, same_ended, _, same_info = env.step(action)
        assert (reward, ended) == (same_reward, same_ended)
        seen["mask"][:] = 1 - seen["mask"]  # what was handed out is the caller's
        assert (same_info["action_mask"] == info["action_mask"]).all()
        seen["mask"][:] = 1 - seen["mask"]
    assert seen["mask"].all()  # a policy asked at the end can choose
    assert not same_info["action_mask"].any()
    assert set(info) == set(same_info)


def test_bad_arguments_are_refused():
    for keys in ("ab", ("a",), ("a", "a")):
        with pytest.raises(InvalidOption, match="two different names"):
            MaskInObservation(ConnectFourEnv(), keys)
    with pytest.raises(InvalidOption, match="mask_dtype='int64'"):
        MaskInObservation(ConnectFourEnv(), mask_dtype="int64")
    with pytest.raises(InvalidOption, match="expected Discrete"):
        MaskInObservation(gymnasium.make("Pendulum-v1"))
