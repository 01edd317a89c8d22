"""The script for Tianshou runs, and what it writes are the weights of its network."""

from __future__ import annotations

import warnings

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the library's own
    pytest.importorskip(
        "tianshou", reason="needs the extra tianshou: pip install 'c4env[tianshou]'"
    )

# The library warns of things of its own; ours show without it.
pytestmark = [pytest.mark.compiled, pytest.mark.filterwarnings("ignore")]


def test_a_network_is_trained(tmp_path):
    import torch

    torch.set_num_threads(1)  # a second one would but wait on a busy machine
    from agents.training import tianshou_dqn

    mean = tianshou_dqn.train(tmp_path / "model.pt", 300, seed=3)
    assert -1 <= mean <= 1
    weights = torch.load(tmp_path / "model.pt", weights_only=True)
    shapes = [tuple(weight.shape) for weight in weights.values()]
    assert (256, 84) in shapes
    assert (7, 256) in shapes
