"""Learning libraries as they are, on our environments: the calls that they make."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import c4env
from c4env import ConnectFourEnv, ConnectFourVectorEnv, MaskInObservation

torch = pytest.importorskip("torch", reason="needs torch: the extra torch")


@pytest.fixture
def gym_wrapper() -> Any:
    return pytest.importorskip("torchrl.envs", reason="needs torchrl").GymWrapper


def sync(mode: str, **options: Any) -> SyncVectorEnv:
    make = [lambda: ConnectFourEnv(dtype="float32", **options)] * 3
    return SyncVectorEnv(make, autoreset_mode=AutoresetMode(mode))


@pytest.mark.parametrize("mode", ["SameStep", "Disabled"])
def test_torchrl_wraps_gymnasiums_vector_of_ours(gym_wrapper: Any, mode: str) -> None:
    wrapped = gym_wrapper(sync(mode), categorical_action_encoding=True)
    wrapped.set_seed(0)
    rollout = wrapped.rollout(100, break_when_any_done=False)
    assert rollout["next", "done"].sum() > 5
    assert rollout["next", "reward"].abs().sum() > 5


def test_torchrl_reads_the_mask_beside_the_observation(gym_wrapper: Any) -> None:
    make = [lambda: MaskInObservation(ConnectFourEnv(), mask_dtype="bool")] * 3
    envs = SyncVectorEnv(make, autoreset_mode=AutoresetMode.DISABLED)
    wrapped = gym_wrapper(envs, categorical_action_encoding=True)
    wrapped.set_seed(0)
    rollout = wrapped.rollout(60, break_when_any_done=False)
    assert rollout["next", "done"].sum() > 3
    assert rollout["action_mask"].shape == (3, 60, 7)


@pytest.mark.parametrize("opponent", [None, "random"])
def test_torchrl_wraps_our_vector_environment(gym_wrapper: Any, opponent: Any) -> None:
    """Without automatic reset, as that library prefers it."""
    envs = ConnectFourVectorEnv(3, opponent=opponent, autoreset_mode="Disabled")
    wrapped = gym_wrapper(envs, categorical_action_encoding=True)
    wrapped.auto_register_info_dict()
    wrapped.set_seed(0)
    rollout = wrapped.rollout(100, break_when_any_done=False)
    assert rollout["next", "done"].sum() > 3
    assert rollout["next", "action_mask"].shape == (3, 100, 7)
    assert rollout["next", "player_rewards"].abs().sum() > 3


def test_cleanrl_trains_by_the_environments_name_alone() -> None:
    """The calls of its dqn.py: two networks, a replay of plain arrays, sampled actions."""

    def make() -> Any:
        env = gymnasium.wrappers.RecordEpisodeStatistics(
            gymnasium.make("c4env:c4env/ConnectFour-float32-v0")
        )
        env.action_space.seed(1)
        return env

    envs = SyncVectorEnv([make])
    assert isinstance(envs.single_action_space, gymnasium.spaces.Discrete)
    shape = envs.single_observation_space.shape
    assert shape is not None
    network = torch.nn.Sequential(
        torch.nn.Linear(int(np.array(shape).prod()), 16),
        torch.nn.ReLU(),
        torch.nn.Linear(16, int(envs.single_action_space.n)),
    )
    optimizer = torch.optim.Adam(network.parameters())
    space = envs.single_observation_space
    replay = np.zeros((200, *shape), space.dtype)
    seen, _ = envs.reset(seed=1)
    returns = []
    for step in range(200):
        if step % 2:
            actions = torch.argmax(network(torch.Tensor(seen)), dim=1).numpy()
        else:
            actions = np.array([envs.single_action_space.sample()])
        after, rewards, _, truncations, infos = envs.step(actions)
        if "episode" in infos:
            returns.extend(infos["episode"]["r"].tolist())
        replay[step] = seen[0]
        # As they are in the replay, without a cast.
        values = network(torch.as_tensor(replay[: step + 1]))
        assert not truncations.any()
        goal = torch.as_tensor(rewards, dtype=torch.float32)
        loss = (values[-1:, 0] - goal).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seen = after
    assert returns
    assert set(returns) <= {-1.0, 0.0, 1.0}


def test_a_float_environment_is_had_by_its_name() -> None:
    env = gymnasium.make("c4env/ConnectFour-float32-v0")
    assert env.observation_space.dtype == np.float32
    many = gymnasium.make_vec("c4env/ConnectFour-float32-v0", num_envs=2)
    assert many.reset(seed=1)[0].dtype == np.float32
    assert c4env.ConnectFourEnv().observation_space.dtype == np.int8


def masked_policy(masks: Any) -> Any:
    """A column for each mask, as masked policies draw it."""
    logits = torch.zeros(masks.shape).masked_fill(torch.as_tensor(masks) == 0, float("-inf"))
    return torch.distributions.Categorical(logits=logits).sample().numpy()


@pytest.mark.parametrize("opponent", [None, "random"])
def test_a_masked_policy_can_sample_after_the_end(opponent: Any) -> None:
    """With Gymnasium's default, a finished board is shown, and asked for, once more."""
    torch.manual_seed(1)
    envs = ConnectFourVectorEnv(8, opponent=opponent)
    observation, _ = envs.reset(seed=1)
    ended = 0
    for _ in range(60):
        observation, _, over, _, _ = envs.step(masked_policy(observation["action_mask"]))
        ended += over.sum()
    assert ended > 8
    wrapped = SyncVectorEnv([lambda: MaskInObservation(ConnectFourEnv())] * 4)
    observation, _ = wrapped.reset(seed=1)
    for _ in range(60):
        observation, *_ = wrapped.step(masked_policy(observation["action_mask"]))
