"""Quick forms of `python -m tests.makers statistics`, that fail when the statistics do."""

from __future__ import annotations

import numpy as np
import pytest

from c4env.evaluation.rating.sprt import SCORES, Sprt
from c4env.evaluation.rating.tally import Tally
from tests.makers.__main__ import main
from tests.makers.statistics import KINDS_OF_PAIRS, LOPSIDED, coverage, sprt_errors, tilted

pytestmark = pytest.mark.slow  # simulations, and they guard what is no part of the package


def test_intervals_hold_the_truth():
    found = coverage(players=4, openings=30, tournaments=100)
    assert 0.92 <= found.elo <= 0.98
    assert 0.89 <= found.first_move <= 0.99
    assert found.ranks >= 0.92


@pytest.mark.parametrize(("openings", "tournaments"), [(6, 20), (121, 100)])
def test_the_worth_of_moving_first_is_held_though_one_side_wins_nearly_all(openings, tournaments):
    assert coverage(2, openings, tournaments, world=LOPSIDED).first_move >= 0.91


def test_intervals_that_are_too_narrow_are_noticed(monkeypatch):
    """The same, resampled as if there were thrice as many openings: that test can fail."""
    whole = Tally.weights

    def narrow(tally, generator, draws):
        return tuple(1 + (w - 1) / 3**0.5 for w in whole(tally, generator, draws))

    monkeypatch.setattr(Tally, "weights", narrow)
    assert coverage(players=4, openings=30, tournaments=60).elo < 0.88


@pytest.mark.parametrize("kind", ["many draws", "by opening"])
def test_a_sequential_test_errs_as_seldom_as_it_says(kind):
    errors = sprt_errors(Sprt(0, 100, alpha=0.05, beta=0.1), KINDS_OF_PAIRS[kind], 300)
    assert errors.wrong_under_h0 <= 0.05 + 2.5 * (0.05 * 0.95 / 300) ** 0.5
    assert errors.wrong_under_h1 <= 0.10 + 2.5 * (0.10 * 0.90 / 300) ** 0.5
    assert errors.wrong_under_h0 + errors.wrong_under_h1 > 0  # it is no oracle either


def test_shares_are_tilted_to_a_mean():
    for shares in KINDS_OF_PAIRS.values():
        for mean in (0.3, 0.5, 0.7):
            p = tilted(shares, mean)
            assert p.sum() == pytest.approx(1)
            assert p @ SCORES == pytest.approx(mean)
            assert np.array_equal(p == 0, np.array(shares) == 0)


def test_the_command_reports_both(capsys):
    assert main(["statistics", "--count", "1"]) == 0
    shown = capsys.readouterr().out
    assert "share that held the truth" in shown
    assert "share of wrong decisions" in shown
    for kind in KINDS_OF_PAIRS:
        assert kind in shown
