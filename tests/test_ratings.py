from __future__ import annotations

import numpy as np
import pytest

from evaluation.ratings import fit, format_ratings, rate
from evaluation.record import GameRecord


def games(first, second, wins, draws, losses):
    results = [0] * wins + [None] * draws + [1] * losses
    return [GameRecord((first, second), "", "", winner, "four") for winner in results]


def test_fit_finds_the_strengths_that_made_the_games():
    generator = np.random.default_rng(7)
    truth = np.array([150.0, 50.0, -200.0])
    edge = 40.0
    names = ["a", "b", "c"]
    played = []
    for i, first in enumerate(names):
        for j, second in enumerate(names):
            if i != j:
                chance = 1 / (1 + 10 ** (-(truth[i] - truth[j] + edge) / 400))
                wins = int((generator.random(4000) < chance).sum())
                played += games(first, second, wins, 0, 4000 - wins)
    strengths, first_move = fit(played, names)
    assert strengths == pytest.approx(truth, abs=20)
    assert first_move == pytest.approx(edge, abs=15)
    assert strengths.sum() == pytest.approx(0, abs=1e-6)


def test_one_pairing_has_the_closed_form():
    # Both colours alike, so no first-move advantage: 400 * log10(points ratio), with the
    # virtual draw adding half a point to each side.
    played = games("a", "b", 30, 0, 10) + games("b", "a", 10, 0, 30)
    strengths, first_move = fit(played, ["a", "b"])
    assert strengths[0] - strengths[1] == pytest.approx(400 * np.log10(60.5 / 20.5), abs=1e-3)
    assert first_move == pytest.approx(0, abs=1e-3)


def test_an_agent_that_never_wins_stays_finite():
    played = games("a", "b", 50, 0, 0) + games("b", "a", 0, 0, 50)
    ratings = rate(played, ["a", "b"])
    assert [r.player for r in ratings] == ["a", "b"]
    assert 500 < ratings[0].elo - ratings[1].elo < 2500


def test_games_against_itself_change_nothing():
    played = games("a", "b", 3, 1, 2)
    itself = games("a", "a", 20, 0, 0)
    assert rate(played + itself, ["a", "b"]) == rate(played, ["a", "b"])


def test_order_of_games_does_not_matter():
    played = games("a", "b", 3, 1, 2) + games("b", "c", 1, 1, 5) + games("c", "a", 2, 2, 2)
    assert fit(played, ["a", "b", "c"])[0] == pytest.approx(fit(played[::-1], ["a", "b", "c"])[0])


def test_table_of_ratings():
    text = format_ratings(rate(games("long-name", "b", 3, 0, 1), ["long-name", "b"]))
    assert "long-name" in text
    assert "75.0%" in text
