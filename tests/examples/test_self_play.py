"""The self-play in NumPy: that it learns, and that a spec names its agent."""

import numpy as np

from c4env import agents, evaluation
from tests.helpers.examples import EXAMPLES, example


def test_a_short_training_beats_random_by_the_spec_of_its_weights(tmp_path):
    script = example("self_play")
    weights = script.train(20)
    np.save(tmp_path / "net.npy", weights)
    mine = agents.make(script.network_of(weights), temperature=1)
    run = evaluation.round_robin({"mine": mine, "random": "random"}, openings=3, seed=1, jobs=1)
    (score,) = [rating.score for rating in run.rate() if rating.player == "mine"]
    assert score > 0.6
    spec = f"{EXAMPLES}/self_play.py:Mine:weights={tmp_path / 'net.npy'}"
    (game, _) = evaluation.round_robin([spec, "random"], openings=0, seed=1, jobs=1).games
    assert game.ending in ("four", "full board")
