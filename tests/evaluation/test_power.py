"""What a match can show, said before it is played."""

import numpy as np
import pytest

from c4env.evaluation.ratings.power import CHANCE, expected_pairs, prospect, shown_difference
from c4env.evaluation.ratings.sprt import SCORES, Sprt, expected_score


def test_four_times_the_openings_show_half_the_difference():
    found = [shown_difference(n) for n in (25, 121, 568, 2144)]
    assert found == sorted(found, reverse=True)
    assert found[1] / found[3] == pytest.approx((2144 / 121) ** 0.5, rel=0.05)
    assert shown_difference(4) is None


def test_a_score_of_that_difference_lies_outside_the_interval_as_often_as_said():
    """Pairs of independent games; the interval is that of a mean."""
    pairs, generator = 568, np.random.default_rng(3)
    chance = expected_score(shown_difference(pairs))
    scores = generator.binomial(2, chance, (4000, pairs)) / 2
    error = scores.std(1, ddof=1) / pairs**0.5
    assert np.mean(scores.mean(1) - 1.96 * error > 0.5) == pytest.approx(CHANCE, abs=0.03)


def test_a_test_takes_as_many_pairs_as_expected():
    test, generator = Sprt(0, 100), np.random.default_rng(4)
    for elo, midway in ((0, False), (100, False), (50, True)):
        kinds = 2 * generator.binomial(2, expected_score(elo), (200, 300))
        llr = test.llr(np.cumsum(np.eye(len(SCORES))[kinds], 1))
        over = (llr <= test.bounds[0]) | (llr >= test.bounds[1])
        length = np.where(over.any(1), over.argmax(1) + 1, over.shape[1]).mean()
        assert length == pytest.approx(expected_pairs(test, midway), rel=0.2)


@pytest.mark.parametrize(
    ("pairs", "test", "message"),
    [
        (25, None, "25 openings show a difference of 161 Elo or more with 80 % chance."),
        (1, None, "1 opening: too few to show a difference; 25 show 161 Elo."),
        (568, Sprt(0, 50), "about 130 pairs if H0 or H1 is true, 212 in between; there are 568."),
        (568, Sprt(0, 20), "801 pairs if H0 or H1 is true, 1311 in between; there are 568, enough"),
        (568, Sprt(0, 20), "enough for 0,50."),
        (568, Sprt(-20, 0), "enough for -20,30."),
        (1, Sprt(0, 20), "there are only 1."),
    ],
)
def test_the_sentence_before_a_match(pairs, test, message):
    assert message in prospect(pairs, test)


def test_the_command_says_it_on_stderr(folder, capsys):
    from c4env.evaluation.__main__ import main

    match = ["match", "greedy", "random", "--openings", "0", "--jobs", "1"]
    assert main([*match]) == 0
    shown = capsys.readouterr()
    assert "1 opening: too few to show a difference" in shown.err
    assert "too few to show" not in shown.out
    assert main([*match, "--quiet"]) == 0
    assert "too few to show" not in capsys.readouterr().err
