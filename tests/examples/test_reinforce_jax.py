"""REINFORCE in JAX: that it learns, and that a spec names its agent."""

import numpy as np
import pytest

from c4env import agents
from tests.helpers.examples import EXAMPLES, example, require_whole_games, share_against_random

pytest.importorskip("jax", reason="needs jax: pip install jax")


@pytest.mark.slow
def test_a_short_training_beats_random_by_the_spec_of_its_weights(tmp_path):
    script = example("reinforce_jax")
    weights = [np.asarray(each) for each in script.train(30)]
    np.savez(tmp_path / "net.npz", *weights)
    mine = agents.make(script.network_of(weights), temperature=1)
    assert share_against_random(mine) > 0.6
    spec = f"{EXAMPLES}/reinforce_jax.py:Mine:weights={tmp_path / 'net.npz'}"
    require_whole_games(spec)
