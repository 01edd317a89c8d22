"""The loop in plain PyTorch runs, learns, and its network plays."""

from __future__ import annotations

import pytest

import evaluation

torch = pytest.importorskip("torch", reason="needs torch: pip install torch")
torch.set_num_threads(1)  # a second one would but wait on a busy machine


def test_a_network_is_trained_and_plays_in_a_tournament(tmp_path):
    from agents.training import run, torch_ppo

    path = tmp_path / "model.pt"
    run(torch_ppo.train, None, argv=[str(path), "--steps", "300", "--seed", "3"])
    spec = f"agents.training.torch_ppo:TorchPPO:path={path}"
    result = evaluation.round_robin([spec, "random"], openings=0, seed=1)
    assert [game.forfeited_by for game in result.games] == [None, None]


def test_the_same_seed_trains_the_same_network(tmp_path):
    from agents.training import torch_ppo

    def trained(seed):
        torch_ppo.train(tmp_path / "m.pt", 400, seed, boards=8, length=16)
        return torch.load(tmp_path / "m.pt", weights_only=True)["value.weight"]

    assert trained(1).equal(trained(1))
    assert not trained(1).equal(trained(2))


def test_training_finds_the_win_of_a_little_game(tmp_path, monkeypatch):
    """Every game starts three in the centre each, so that a win is one column away."""
    from agents.training import torch_ppo
    from c4env import ConnectFourVectorEnv, Position

    monkeypatch.setattr(
        torch_ppo,
        "ConnectFourVectorEnv",
        lambda n, **options: ConnectFourVectorEnv(n, openings=["414141"], **options),
    )
    torch_ppo.train(tmp_path / "m.pt", 20_000, 1, boards=64)
    assert torch_ppo.TorchPPO(str(tmp_path / "m.pt")).choose(Position.parse("414141")) == 3
