"""The sequential test and the normalized Elo, against published values."""

import math

import numpy as np
import pytest

from c4env.errors import InvalidOption
from c4env.evaluation.ratings.sprt import SCORES, Sprt, expected_score, normalized_elo


def test_the_ratio_of_a_published_test():
    """Fishtest's page of a test: "Logistic (exact) -0.53772", H1 at 2.716 logistic Elo."""
    assert Sprt(0, 2.716).llr([13, 37, 50, 25, 3]) == pytest.approx(-0.53772, abs=2e-4)


@pytest.mark.parametrize(
    ("counts", "value", "half"),
    [
        ([0, 3, 3, 2, 0], -39.34, 170.24),
        ([43, 61, 144, 55, 37], -11.50, 26.11),
        ([50, 287, 610, 387, 73], 28.19, 12.84),
    ],
)
def test_normalized_elo_is_the_same_as_in_fastchess(counts, value, half):
    """As fastchess printed it in reports of these pairs."""
    elo = normalized_elo(counts)
    assert elo.value == pytest.approx(value, abs=0.006)
    assert (elo.high - elo.low) / 2 == pytest.approx(half, abs=0.006)
    assert normalized_elo([0, 0, 9, 0, 0]) is normalized_elo([0] * 5) is None


def test_the_bounds_are_walds():
    assert Sprt(0, 40).bounds == pytest.approx((-2.9444, 2.9444), abs=1e-4)
    low, high = Sprt(0, 40, alpha=0.01, beta=0.1).bounds
    assert (low, high) == pytest.approx((math.log(0.1 / 0.99), math.log(0.9 / 0.01)))


def test_it_decides_when_a_bound_is_reached():
    test = Sprt(0, 40)
    for kind, decision in ((4, "H1"), (2, "H0"), (0, "H0")):
        counts = [0] * 5
        while test.decide(counts) is None:
            counts[kind] += 1
        assert test.decide(counts) == decision
        assert 10 < counts[kind] < 50


def test_a_kind_of_pair_not_yet_seen_counts_a_thousandth():
    """One value a time by hand: of all the pairs alike the likeliest rest is what was not seen."""
    for counts in ([0, 0, 0, 0, 12], [0, 0, 9, 0, 1], [3, 0, 0, 0, 0]):
        seen = np.maximum(counts, 1e-3)
        best = []
        for elo in (0, 40):
            away = SCORES - expected_score(elo)
            low, high = -1 / away[-1], -1 / away[0]
            for _ in range(200):
                t = (low + high) / 2
                low, high = (t, high) if (seen * away / (1 + t * away)).sum() > 0 else (low, t)
            best.append((seen * np.log(1 / (1 + t * away))).sum())
        assert float(Sprt(0, 40).llr(counts)) == pytest.approx(best[1] - best[0], abs=1e-6)


def test_a_decision_says_what_is_known_and_no_more():
    for test, decision, known in (
        (Sprt(0, 40), "H0", "not 40 Elo stronger than b"),
        (Sprt(0, 40), "H1", "stronger than b"),
        (Sprt(10, 40), "H1", "more than 10 Elo stronger than b"),
        (Sprt(-20, 20), "H0", "not 20 Elo stronger than b"),
        (Sprt(-20, 20), "H1", "not 20 Elo weaker than b"),
        (Sprt(-300, 0), "H0", "not as strong as b"),
        (Sprt(-300, 0), "H1", "not 300 Elo weaker than b"),
        (Sprt(-40, -10), "H0", "more than 10 Elo weaker than b"),
    ):
        assert test.conclusion(decision, "b") == known


@pytest.mark.parametrize(
    "text", ["", "0", "0,40,80", "a,b", "40,0", "5,5", "nan,3", "0,inf", "0,1e-15"]
)
def test_bad_hypotheses_are_quoted(text):
    with pytest.raises(InvalidOption, match="sprt"):
        Sprt.parse(text)
