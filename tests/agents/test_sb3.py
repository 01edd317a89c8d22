"""Models of Stable-Baselines3 as agents, and the boards it trains on."""

import pickle

import numpy as np
import pytest

from c4env import ConnectFourEnv, ConnectFourVectorEnv, Position, agents
from c4env.errors import InvalidOption

reason = "needs stable-baselines3 and sb3-contrib: the extra sb3"
stable_baselines3 = pytest.importorskip("stable_baselines3", reason=reason)
sb3_contrib = pytest.importorskip("sb3_contrib", reason=reason)

from stable_baselines3.common.env_checker import check_env  # noqa: E402  # needs the library
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize  # noqa: E402

from c4env.envs.stable_baselines import ConnectFourVecEnv  # noqa: E402

SMALL = {"policy_kwargs": {"net_arch": [8]}, "device": "cpu", "seed": 1}


def test_a_policy_that_needs_more_than_an_observation_is_refused(tmp_path):
    model = sb3_contrib.RecurrentPPO("MlpLstmPolicy", ConnectFourEnv(), **SMALL)
    model.save(tmp_path / "model.zip")
    for made, who in ((model, ""), (f"sb3:{tmp_path / 'model.zip'}", "model.zip: ")):
        said = f"{who}policy .* a distribution given observations alone"
        with pytest.raises(InvalidOption, match=said):
            agents.make(made)


def test_a_model_of_normalised_observations_is_refused():
    for norm_obs in (False, True):
        env = VecNormalize(DummyVecEnv([ConnectFourEnv]), norm_obs=norm_obs)
        model = stable_baselines3.PPO("MlpPolicy", env, **SMALL)
        if norm_obs:
            with pytest.raises(InvalidOption, match="VecNormalize"):
                agents.make(model)
        else:
            assert agents.make(model).choose(Position()) in range(7)


def test_boards_as_a_vec_env_are_those_of_the_vector_environment():
    ours = ConnectFourVecEnv(20, "greedy", layout="planes_first", dtype="float32")
    plain = ConnectFourVectorEnv(20, opponent="greedy", autoreset_mode="SameStep")
    ours.seed(3)
    seen = ours.reset()
    observation, _ = plain.reset(seed=3)
    assert seen.shape == (20, 2, 6, 7)
    assert seen.dtype == np.float32
    ended = 0
    for _ in range(60):
        masks = np.stack(ours.env_method("action_masks"))
        assert (masks == observation["action_mask"]).all()
        assert (seen == observation["observation"].transpose(0, 3, 1, 2)).all()
        actions = masks.argmax(axis=1)
        seen, rewards, dones, infos = ours.step(actions)
        observation, same_rewards, same_dones, _, info = plain.step(actions)
        assert (rewards == same_rewards).all()
        assert (dones == same_dones).all()
        for i in np.flatnonzero(dones):
            last = info["final_obs"][i]["observation"].transpose(2, 0, 1)
            assert (infos[i]["terminal_observation"] == last).all()
            ended += 1
    assert ended > 10
    masks = ours.action_masks()
    assert ours.env_method("action_masks", indices=[2])[0].tolist() == masks[2].tolist()
    again = pickle.loads(pickle.dumps(ours))
    actions = masks.argmax(axis=1)
    assert (again.step(actions)[0] == ours.step(actions)[0]).all()
    ours.close()


def test_the_libraries_own_check_passes():
    # Flat as it is by default: of anything else the check supposes that it is an image.
    check_env(ConnectFourEnv())
    check_env(ConnectFourEnv(dtype="float32"))
