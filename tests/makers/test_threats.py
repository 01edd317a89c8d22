import runpy

import numpy as np
import pytest

from c4env.agents.heuristics.threats import SIZE
from c4env.agents.heuristics.weights import WEIGHTS
from tests.makers import threats
from tests.makers.__main__ import main


def test_regression_finds_the_weights_that_made_the_points():
    generator = np.random.default_rng(5)
    counts = generator.integers(-3, 4, size=(40_000, 4)).astype(float)
    true = np.array([0.8, -0.5, 0.0, 0.3])
    points = (generator.random(40_000) < 1 / (1 + np.exp(-counts @ true))).astype(float)
    assert np.abs(threats.regress(counts, points) - true).max() < 0.03


@pytest.mark.compiled
@pytest.mark.slow
def test_the_command_writes_weights_that_know_wins_from_losses(tmp_path):
    out = tmp_path / "weights.py"
    options = ["--positions", "300", "--seed", "2", "--out", str(out)]
    assert main(["threats", *options]) == 0
    weights = runpy.run_path(str(out))["WEIGHTS"]
    assert weights.shape == (SIZE,)
    assert "300 positions, seed 2" in out.read_text()
    # Few positions, but the signs of what matters are those of the weights that ship.
    strong = np.abs(WEIGHTS) > 80
    assert np.mean(np.sign(weights[strong]) == np.sign(WEIGHTS[strong])) > 0.7
