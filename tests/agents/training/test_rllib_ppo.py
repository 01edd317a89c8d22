"""The script for RLlib runs; in an environment of its own, since it pins an older gymnasium."""

from __future__ import annotations

import warnings

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the library's own
    pytest.importorskip("ray.rllib", reason="needs rllib: the extra rllib")

pytestmark = [pytest.mark.compiled, pytest.mark.filterwarnings("ignore")]


def test_a_module_is_trained(tmp_path):
    from agents.training import rllib_ppo

    mean = rllib_ppo.train(tmp_path / "out", 2000, seed=3)
    assert -1 <= mean <= 1
    assert list((tmp_path / "out").rglob("module_state*"))
