from __future__ import annotations

import math

import numpy as np
import pytest

from c4env.evaluation.errors import InvalidRun
from c4env.evaluation.rating.loss import Loss, LossSprt
from c4env.evaluation.rating.simulation import both_tests, simulated_pairs


def drawn(seed: int, count: int, rates: tuple[float, float]) -> np.ndarray:
    """Pairs of two that err independently at so many of their critical moves."""
    generator = np.random.default_rng(seed)
    critical = generator.integers(1, 9, (count, 2))
    given = generator.binomial(critical, rates)
    points = np.clip(1 + given[:, 1] - given[:, 0], 0, 2)
    return np.column_stack([points, given[:, 0], critical[:, 0], given[:, 1], critical[:, 1]])


def test_the_ratio_is_that_of_two_normal_likelihoods():
    """By hand: influence of each pair on the difference of the rates, and its variance."""
    pairs = np.concatenate([drawn(1, 200, (0.1, 0.3)), [[1, 1, 1, 0, 1], [1, 0, 1, 1, 1]]])
    _, given, critical, other, others = pairs.T
    rates = given.sum() / critical.sum(), other.sum() / others.sum()
    influence = (other - rates[1] * others) / others.mean()
    influence -= (given - rates[0] * critical) / critical.mean()
    fewer = rates[1] - rates[0]

    def log_likelihood(mean: float) -> float:
        values = fewer + influence
        variance = ((values - mean) ** 2).mean()
        return float(-len(values) / 2 * math.log(variance))

    test = LossSprt(5, 12)
    ratio = log_likelihood(0.12) - log_likelihood(0.05)
    assert float(test.llr(test.of_pairs(pairs[:-2]).sum(0))) == pytest.approx(ratio)
    found = Loss.of(pairs)
    assert (found.one, found.other) == pytest.approx((100 * rates[0], 100 * rates[1]))
    wide = 1.96 * (influence**2).mean() ** 0.5 / len(pairs) ** 0.5
    assert (found.low, found.high) == pytest.approx(
        (100 * (fewer - wide), 100 * (fewer + wide)), rel=0.02
    )


def test_many_at_once_are_those_of_each():
    test = LossSprt(0, 3)
    sums = np.cumsum(test.of_pairs(drawn(3, 20, (0.2, 0.2))), 0)
    assert test.llr(sums).tolist() == pytest.approx([float(test.llr(one)) for one in sums])


def test_the_agents_the_other_way_round():
    pairs = drawn(2, 100, (0.1, 0.2))
    swapped = np.column_stack([2 - pairs[:, 0], pairs[:, [3, 4, 1, 2]]])
    one, other = LossSprt(-3, 0), LossSprt(0, 3)
    ratio = float(one.llr(one.of_pairs(swapped).sum(0)))
    assert ratio == pytest.approx(-float(other.llr(other.of_pairs(pairs).sum(0))))
    assert Loss.of(swapped).fewer == pytest.approx(-Loss.of(pairs).fewer)


def test_intervals_hold_the_truth():
    held = 0
    for seed in range(300):
        found = Loss.of(drawn(seed, 20, (0.1, 0.3)))
        held += found.low <= 20 <= found.high
    assert 0.92 <= held / 300 <= 0.98


@pytest.mark.parametrize("errors", [(0.03, 0.09), (0.2, 0.4)])
def test_it_errs_as_seldom_as_it_says(errors):
    pairs = simulated_pairs(5000, errors, np.random.default_rng(1))
    found = both_tests(pairs, 40, 120)
    for test in (found.on_elo, found.on_loss):
        for share in (test.wrong_under_h0, test.wrong_under_h1):
            assert share <= 0.05 + 2.5 * (0.05 * 0.95 / 120) ** 0.5
    assert found.on_loss.wrong_under_h0 + found.on_loss.wrong_under_h1 > 0


def test_a_difference_of_sums_is_the_difference_of_points():
    """So it would save nothing: what is new are the critical moves."""
    pairs = simulated_pairs(500, (0.1, 0.3), np.random.default_rng(2))
    assert np.array_equal(pairs[:, 0] - 1, pairs[:, 3] - pairs[:, 1])


def test_independent_errors_save_games_where_they_are_many():
    generator = np.random.default_rng(3)
    many = both_tests(simulated_pairs(5000, (0.4, 0.6), generator), 40, 60)
    few = both_tests(simulated_pairs(5000, (0.02, 0.06), generator), 40, 60)
    saved, lost = (
        found.on_loss.pairs_under_h0 / found.on_elo.pairs_under_h0 for found in (many, few)
    )
    assert saved < 0.8
    assert 0.85 < lost < 1.3


def test_where_a_difference_of_points_is_none_of_loss_no_match_is_simulated():
    pairs = simulated_pairs(500, (0.1, 0.3), np.random.default_rng(2))
    pairs[:, 2] *= pairs[:, 1].sum() / pairs[:, 3].sum() * pairs[:, 4].sum() / pairs[:, 2].sum()
    assert both_tests(pairs, 100, 2).on_loss is None
    # It is the weaker that is named first.
    assert both_tests(pairs[:, [0, 3, 4, 1, 2]] * [-1, 1, 1, 1, 1] + [2, 0, 0, 0, 0], 100, 2)


def test_pairs_of_two_that_are_not_so_far_apart_are_refused():
    pairs = simulated_pairs(500, (0.1, 0.11), np.random.default_rng(2))
    with pytest.raises(InvalidRun, match="expected games of two at least 300 Elo apart"):
        both_tests(pairs, 300, 1)


def test_no_critical_move_is_no_rate():
    assert Loss.of([]) == (None, None, None, None, None)
    assert Loss.of([[1, 0, 0, 2, 4]] * 3).one is None
    assert Loss.of([[1, 1, 4, 2, 4]])[:3] == (25, 50, None)
    assert LossSprt(0, 3).decide(LossSprt(0, 3).of_pairs([[1, 0, 0, 0, 0]] * 5).sum(0)) is None
    assert "a to b" not in Loss.of([[1, 1, 4, 2, 4]]).shown("a", "b")


def test_in_words():
    pairs = [[1, 1, 4, 2, 4], [2, 0, 4, 2, 4], [2, 0, 4, 2, 4]]
    assert (
        Loss.of(pairs)
        .shown("a", "b")
        .startswith(
            "points given away per 100 critical moves: 8.3 to 50.0, a 41.7 fewer than b (95 %: "
        )
    )
    test = LossSprt(0, 3)
    assert test.states(3, "b") == "giving away 3 points fewer per 100 critical moves than b"
    assert test.states(0, "b") == "giving away as little as b"
    one_more = Loss.of(
        [[p, *other, *one] for p, *both in pairs for one, other in [(both[:2], both[2:])]]
    )
    assert one_more.shown("a", "b").split("(")[0].endswith("a 41.7 more than b ")
    assert Loss.of(pairs).found() == one_more.found().replace("more", "fewer")
    assert Loss.of([]).found() == "too little to say"


@pytest.mark.parametrize("text", ["", "3", "3,0", "0,101", "-101,0", "a,b", "nan,3"])
def test_bad_hypotheses_are_quoted(text):
    with pytest.raises(InvalidRun, match="sprt"):
        LossSprt.parse(text)
