"""The loop in plain PyTorch runs, learns, and its network plays."""

from __future__ import annotations

import numpy as np
import pytest

from c4env import evaluation

torch = pytest.importorskip("torch", reason="needs torch: pip install torch")
torch.set_num_threads(1)  # a second one would but wait on a busy machine


def test_the_same_seed_trains_the_same_network(tmp_path):
    from c4env.agents.selfplay import ppo

    def trained(seed):
        ppo.train(tmp_path / "m.pt", 400, seed, boards=8, length=16)
        return torch.load(tmp_path / "m.pt", weights_only=True)["value.weight"]

    assert trained(1).equal(trained(1))
    assert not trained(1).equal(trained(2))


def test_a_short_training_beats_random(tmp_path):
    from c4env.agents.selfplay import ppo

    ppo.train(tmp_path / "m.pt", 20_000, 1, boards=64)
    players = {"trained": ppo.TorchPPO(str(tmp_path / "m.pt")), "random": "random"}
    games = evaluation.round_robin(players, openings=3, seed=1, jobs=1).games
    points = [game.points[game.players.index("trained")] for game in games]
    assert np.mean(points) > 0.72  # three seeds: 0.82


def test_nothing_is_read_back_from_the_device(tmp_path):
    """Tensors on ``meta`` hold no values; whatever asks for one raises an error."""
    from c4env.agents.selfplay import ppo

    network = ppo.train(tmp_path / "m.pt", 1, 1, "meta", 8, length=4)
    assert {parameter.device.type for parameter in network.parameters()} == {"meta"}
