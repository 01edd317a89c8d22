"""The calibration of ``graded``: an Elo from points, and the table that is written."""

import runpy

import numpy as np
import pytest

from c4env.agents.graded.levels import ELO, SKILL
from tests.makers import graded


@pytest.mark.parametrize("elo", [-900.0, 0.0, 250.0])
def test_the_elo_is_that_which_expects_the_points(elo):
    others = np.array([-500.0, -100.0, 0.0, 300.0])
    expected = 1 / (1 + 10 ** ((others - elo) / 400))
    found, error = graded.rate_alone(others, 100, 100 * float(expected.sum()))
    assert found == pytest.approx(elo, abs=1e-3)
    _, with_more = graded.rate_alone(others, 400, 400 * float(expected.sum()))
    assert with_more == pytest.approx(error / 2)


def test_the_table_leaves_out_an_elo_that_chance_put_out_of_order(tmp_path):
    measured = {0.1: -800.4, 0.2: -600.0, 0.3: -650.0, 0.5: 0.0, 1.0: 500.0}
    graded.write(tmp_path / "levels.py", measured, 1, 12.0)
    found = runpy.run_path(str(tmp_path / "levels.py"))
    assert found["ELO"] == (ELO[0], -800, -600, 0, ELO[-1])
    assert found["SKILL"] == (SKILL[0], 0.1, 0.2, 0.5, SKILL[-1])


@pytest.mark.compiled
@pytest.mark.slow
def test_an_elo_measures_as_it_says():
    """Within six standard errors."""
    found = graded.measure(graded.Graded(-400).skill, seed=5, precise=40)
    assert abs(found.elo + 400) < 240
    assert found.score["random"] > found.score["greedy"] > found.score["mcts"]
