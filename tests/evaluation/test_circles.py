"""Circles of agents, counted by hand and by brute force; test_simulation counts false alarms."""

import itertools
import json

import numpy as np
import pytest

from c4env.evaluation.ratings.circles import circles
from c4env.evaluation.ratings.ratings import rate
from c4env.evaluation.ratings.tally import Tally


def field(beats, openings=9, both=True):
    """A tally in which the row wins all its games against the columns that it beats, ``[N, N]``.

    Other games are drawn. Without ``both``, the agents of a pair meet with one colour.
    """
    n = len(beats)
    points = np.repeat((0.5 + (beats - beats.T) / 2)[None], openings, 0)
    games = np.triu(np.ones((n, n)), 1) if not both else 1 - np.eye(n)
    names = tuple(f"a{i}" for i in range(n)), tuple(f"{i:02}" for i in range(openings))
    return Tally(*names, points * games, games * np.ones_like(points))


CIRCLE, ORDER = np.roll(np.eye(3), 1, 1), np.triu(np.ones((3, 3)), 1)


def test_three_agents_that_beat_each_other_are_one_circle():
    found = rate(field(CIRCLE))
    assert found.circles[:2] == (1, 1)
    assert found.circles.share == 1
    assert found.circles.found
    assert found.circles.example in {("a0", "a1", "a2"), ("a1", "a2", "a0"), ("a2", "a0", "a1")}
    (line,) = [line for line in found.warnings() if "circle" in line]
    assert line.startswith("Elo hides circles: 1 of 1 decided triads (100.0%), by chance 0.0% .. 0")
    assert line.removesuffix(".")[-2:] == found.circles.example[0]


@pytest.mark.parametrize(
    ("tally", "triads"),
    [
        (field(ORDER), 1),
        (field(0 * ORDER), 0),  # all is drawn
        (field(CIRCLE, openings=3), 0),  # too few to decide a pair
        (field(CIRCLE, both=False), 0),  # moving first may have decided
        (field(np.zeros((2, 2))), 0),
    ],
)
def test_a_field_without_a_circle_has_no_sentence(tally, triads):
    found = rate(tally)
    assert found.circles[:2] == (triads, 0)
    assert found.circles.example == ()
    assert not found.circles.found
    assert not any("circle" in line for line in found.warnings())


@pytest.mark.parametrize("seed", range(5))
def test_the_counts_are_those_of_all_threes(seed):
    generator = np.random.default_rng(seed)
    beats = np.triu(generator.integers(-1, 2, (5, 5)), 1)
    beats = np.maximum(beats - beats.T, 0)
    triads = cyclic = 0
    for i, j, k in itertools.combinations(range(5), 3):
        triads += all(beats[a, b] or beats[b, a] for a, b in ((i, j), (j, k), (k, i)))
        cyclic += any(
            beats[a, b] and beats[b, c] and beats[c, a] for a, b, c in ((i, j, k), (k, j, i))
        )
    found = circles(field(beats), np.zeros(5))
    assert found[:2] == (triads, cyclic)
    for one, other in itertools.pairwise([*found.example, *found.example[:1]]):
        assert beats[int(one[1]), int(other[1])]


def test_chance_makes_circles_of_equal_agents_too():
    """A quarter of the decided triads of equal agents are circles; most runs have no triad."""
    tally = field(np.zeros((30, 30)), 25)
    points = np.random.default_rng(0).integers(0, 2, tally.games.shape) * tally.games
    tally = Tally(tally.players, tally.openings, points, tally.games)
    found = circles(tally, np.zeros(30))
    assert 0.03 < found.expected.value < 0.25 < found.expected.high
    assert found == circles(tally, np.zeros(30))
    assert not found.found


def test_the_fact_is_plain():
    fact = json.loads(json.dumps(rate(field(CIRCLE)).circles.fact()))
    assert fact["cyclic"] == 1
    assert set(fact["expected"]) == {"value", "low", "high"}
