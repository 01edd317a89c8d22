"""Boards as tensors: the games of the vector environment, wherever the tensors are."""

from __future__ import annotations

import copy
import pickle
import sys
from typing import Any

import numpy as np
import pytest

from c4env import ConnectFourVectorEnv
from c4env.errors import InvalidAction, InvalidOption, MissingExtra


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch", reason="needs torch: the extra torch")


def follow(torch: Any, size: int, games: int) -> None:
    """Play as many games on both, also with actions that lose, and compare all there is."""
    from c4env import TensorEnv

    ours, theirs = TensorEnv(size), ConnectFourVectorEnv(size, autoreset_mode="SameStep")
    seen, info = ours.reset()
    expected, same_info = theirs.reset(seed=1)
    choose = np.random.default_rng(2)
    ended = lost = drawn = 0
    while ended < games:
        for key in ("observation", "action_mask"):
            assert seen[key].dtype == torch.int8
            assert np.array_equal(seen[key].numpy(), expected[key])  # type: ignore[literal-required]
        assert np.array_equal(info["ply"].numpy(), same_info["ply"])
        mask = expected["action_mask"]
        actions = (
            choose.random(mask.shape) * (mask + (choose.random(size) < 0.02)[:, None])
        ).argmax(axis=1)
        seen, rewards, over, truncated, info = ours.step(torch.from_numpy(actions))
        expected, same_rewards, same_over, _, same_info = theirs.step(actions)
        assert np.array_equal(rewards.numpy(), same_rewards)
        assert np.array_equal(over.numpy(), same_over)
        assert not truncated.any()
        assert np.array_equal(info["player_rewards"].numpy(), same_info["player_rewards"])
        ended += int(same_over.sum())
        lost += int((same_rewards < 0).sum())
        drawn += int((same_over & (same_rewards == 0)).sum())
    assert lost > 0
    assert drawn > 0 or games < 1000


@pytest.mark.compiled
def test_ten_thousand_games_are_those_of_the_vector_environment(torch: Any) -> None:
    follow(torch, 500, 10_000)


def test_some_games_are_those_of_the_vector_environment(torch: Any) -> None:
    follow(torch, 7, 60)


def test_nothing_is_copied_to_the_host(torch: Any) -> None:
    """On the device without data whatever asks for a value raises."""
    from c4env import TensorEnv

    env = TensorEnv(5, device="meta")
    seen, info = env.reset()
    outputs = [*seen.values(), *info.values()]
    for _ in range(3):
        actions = torch.zeros(5, dtype=torch.int64, device="meta")
        seen, *rest, info = env.step(actions)
        outputs += [*seen.values(), *rest, *info.values()]
    assert {output.device.type for output in outputs} == {"meta"}


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))])
def test_copies_and_what_is_handed_out_are_their_own(torch: Any, duplicate: Any) -> None:
    from c4env import TensorEnv

    env = TensorEnv(2)
    seen, info = env.reset()
    actions = torch.tensor([3, 3])
    double = duplicate(env)
    for tensor in (*seen.values(), *info.values()):
        tensor += 1
    first, second = env.step(actions), double.step(actions)
    assert torch.equal(first[0]["observation"], second[0]["observation"])
    assert first[4]["ply"].tolist() == second[4]["ply"].tolist() == [1, 1]
    first[4]["ply"] += 1
    assert env.step(actions)[4]["ply"].tolist() == [2, 2]


def test_actions_that_are_no_columns_lose(torch: Any) -> None:
    from c4env import TensorEnv

    env = TensorEnv(3)
    env.reset()
    _, rewards, over, _, info = env.step(torch.tensor([-1, 7, 3], dtype=torch.int32))
    assert rewards.tolist() == [-1, -1, 0]
    assert over.tolist() == [True, True, False]
    assert info["player_rewards"].tolist() == [[-1, 0], [-1, 0], [0, 0]]


def test_bad_arguments_are_refused(torch: Any) -> None:
    from c4env import TensorEnv

    for size in (0, True, 2.5):
        with pytest.raises(InvalidOption, match="expected a positive integer"):
            TensorEnv(size)  # type: ignore[arg-type]
    for device in ("nosuch", 3.5):
        with pytest.raises(InvalidOption, match="device="):
            TensorEnv(2, device=device)
    env = TensorEnv(2)
    env.reset()
    for actions, match in (
        ([0, 0], "list: expected a tensor"),
        (torch.tensor([0]), r"shape \(1,\)"),
        (torch.tensor([0.0, 1.0]), "dtype torch.float32"),
        (torch.tensor([True, False]), "dtype torch.bool"),
        (torch.zeros(2, dtype=torch.int64, device="meta"), "actions on meta: expected cpu"),
    ):
        with pytest.raises(InvalidAction, match=match):
            env.step(actions)


def test_without_torch_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "c4env.envs.vectorized.tensor", raising=False)
    with pytest.raises(MissingExtra, match=r"pip install 'c4env\[torch\]'"):
        import c4env.envs.vectorized.tensor  # noqa: F401
