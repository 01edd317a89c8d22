"""Quick forms of `c4 experiment statistics`, narrow enough to fail when the statistics do."""

from __future__ import annotations

import numpy as np
import pytest

from c4env.evaluation.__main__ import main
from c4env.evaluation.exact.labelled import random_moves
from c4env.evaluation.games.tournament import round_robin
from c4env.evaluation.rating.simulation import (
    KINDS_OF_PAIRS,
    LOPSIDED,
    WORLDS,
    coverage,
    simulated_pairs,
    sprt_errors,
    tilted,
)
from c4env.evaluation.rating.sprt import SCORES, Sprt
from c4env.evaluation.rating.tally import Tally
from c4env.evaluation.studies.match import play_match
from c4env.position import format_moves


def test_intervals_hold_the_truth():
    found = coverage(players=4, openings=30, tournaments=100)
    assert 0.92 <= found.elo <= 0.98
    assert 0.89 <= found.first_move <= 0.99
    assert found.ranks >= 0.92


@pytest.mark.slow
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
    assert main(["experiment", "statistics", "--count", "2"]) == 0
    shown = capsys.readouterr().out
    assert "share that held the truth" in shown
    assert "share of wrong decisions" in shown
    for kind in (*KINDS_OF_PAIRS, *WORLDS):
        assert kind in shown


def test_what_is_given_away_is_of_who_erred():
    pairs = simulated_pairs(50, (0.9, 0.0), np.random.default_rng(1))
    given_away = pairs.sum(axis=0)[[1, 3]]
    assert given_away[0] > 10
    assert given_away[1] == 0


@pytest.mark.compiled
def test_pairs_of_a_match_are_drawn_again(tmp_path, capsys):
    generator = np.random.default_rng(0)
    found = (random_moves(24, generator) for _ in range(40))
    openings = [format_moves(columns) for columns in found if columns][:12]
    play_match(["random", "alphabeta:depth=4"], openings, out=tmp_path / "match")
    assert main(["experiment", "statistics", str(tmp_path / "match"), "--count", "2"]) == 0
    assert "random against alphabeta:depth=4" in capsys.readouterr().out
    round_robin(["random", "greedy", "minimax:depth=1"], openings[:1], out=tmp_path / "run")
    assert main(["experiment", "statistics", str(tmp_path / "run")]) == 2
    assert "expected a match of two agents, not 3" in capsys.readouterr().err
