"""The self-play in NumPy: that it learns, and that a spec names its agent."""

import numpy as np
import pytest

from c4env import agents
from tests.helpers.examples import EXAMPLES, example, require_whole_games, share_against_random


@pytest.mark.slow
def test_a_short_training_beats_random_by_the_spec_of_its_weights(tmp_path):
    script = example("self_play")
    weights = script.train(20)
    np.save(tmp_path / "net.npy", weights)
    mine = agents.make(script.network_of(weights), temperature=1)
    assert share_against_random(mine) > 0.6
    spec = f"{EXAMPLES}/self_play.py:Mine:weights={tmp_path / 'net.npy'}"
    require_whole_games(spec)
