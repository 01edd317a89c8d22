"""The scripts for TorchRL, Tianshou and RLlib run, and what they write are a network's weights."""

from __future__ import annotations

import importlib
import warnings

import pytest

# The libraries warn of things of their own; ours show without them.
pytestmark = [pytest.mark.compiled, pytest.mark.filterwarnings("ignore")]


@pytest.mark.parametrize(
    ("script", "library", "steps"),
    [
        ("torchrl_ppo", "torchrl", 1000),
        ("tianshou_dqn", "tianshou", 300),
        ("rllib_ppo", "ray.rllib", 2000),  # in an environment of its own: an older gymnasium
    ],
)
def test_a_network_is_trained(script, library, steps, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip(library, reason=f"needs {library}")
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)  # a second one would but wait on a busy machine
    mean = importlib.import_module(f"c4env.agents.training.examples.{script}").train(
        tmp_path / "out", steps, seed=3
    )
    assert -1 <= mean <= 1
    if script == "rllib_ppo":
        assert list((tmp_path / "out").rglob("module_state*"))
        return
    weights = torch.load(tmp_path / "out", weights_only=True)
    assert {(256, 84), (7, 256)} <= {tuple(weight.shape) for weight in weights.values()}
