"""Do the statistics hold what they promise? Simulated runs and matches of known truth.

Intervals of 95 % should hold the truth 95 times in 100, and a sequential test be wrong no more
often than it says.
"""

import itertools
from typing import NamedTuple

import numpy as np
import pytest

from c4env.evaluation.ratings.circles import circles
from c4env.evaluation.ratings.fit import firth, fit
from c4env.evaluation.ratings.ratings import rate
from c4env.evaluation.ratings.sprt import SCORES, Sprt, expected_score
from c4env.evaluation.ratings.tally import Tally
from c4env.evaluation.records.game import GameRecord

pytestmark = pytest.mark.slow


class World(NamedTuple):
    """What is true in simulated round robins; all in Elo but the share of draws."""

    elo: tuple[float, ...]
    first_move: float = 17.0  # what moving first is worth, on average
    by_opening: float = 174.0  # standard deviation of that worth, by opening
    by_pair: float = 0.0  # and by opening and pair of agents
    draws: float = 0.0
    twin: bool = False  # whether the last agent plays as the first does
    circle: float = 0.0  # by how much each of the middle three beats the next, if it does
    by_style: float = 0.0  # standard deviation of what Elo says wrong of a pair, in all openings

    def chances(self, openings, generator):
        """Of the first player to win a game that is not drawn, ``[openings, N, N]``.

        An opening favours one side, and suits some agents better than others, so that games of
        one opening hang together.
        """
        elo, n = np.array(self.elo), len(self.elo)
        edge = self.first_move + self.by_opening * generator.standard_normal((openings, 1, 1))
        edge = edge + self.by_pair * generator.standard_normal((openings, n, n))
        ahead = elo[:, None] - elo
        if self.by_style:
            style = self.by_style * np.triu(generator.standard_normal((n, n)), 1)
            # The stronger agent stays so: without a circle, whatever the style.
            ahead = np.sign(ahead) * np.maximum(np.sign(ahead) * (ahead + style - style.T), 0)
        if self.circle:
            three = n // 2 + np.array([-1, 0, 1])
            ahead[three, np.roll(three, -1)] = self.circle
            ahead[np.roll(three, -1), three] = -self.circle
        return 1 / (1 + 10 ** (-(ahead + edge) / 400))

    def points(self, openings, generator):
        """Of the first player, in one game of each pair in each opening."""
        chances = self.chances(openings, generator)
        wins = generator.random(chances.shape) < chances
        points = np.where(generator.random(chances.shape) < self.draws, 0.5, wins)
        if self.twin:
            points[:, -1], points[:, :, -1] = points[:, 0], points[:, :, 0]
        return points

    def truth(self, games, generator):
        """The fit to the points to be expected over very many openings."""
        expected = np.mean([self.chances(500, generator).mean(0) for _ in range(40)], 0)
        expected = (1 - self.draws) * expected + self.draws / 2
        alike = (expected + 1 - expected.T) / 2  # whoever moves first
        return fit(alike * games, games)[0], float(fit(expected * games, games)[1])


def evenly(players, extremes):
    return tuple(np.linspace(extremes, -extremes, players))


def tally(points, games, beside=None):
    players = tuple(f"{i:03}" for i in range(points.shape[1]))
    openings = tuple(f"{i:05}" for i in range(len(points)))
    return Tally(players, openings, points * games, games * np.ones_like(points), beside)


class Held(NamedTuple):
    """How often intervals held the truth."""

    elo: float  # of the differences of two agents
    least: float  # of the two agents that were held least often
    first_move: float
    ranks: float
    width: float  # median of the intervals of differences, in Elo
    narrow: float  # how often the tenth of the agents' own intervals that are narrowest did
    of_first: float  # how often the own interval of the first agent did


def held(world, openings, runs, seed=0):
    """Rate simulated round robins, and count the truths that the intervals hold."""
    generator = np.random.default_rng([seed, openings])
    n = len(world.elo)
    games = 1.0 - np.eye(n)
    truth, true_first_move = world.truth(games, generator)
    places = np.argsort(np.argsort(-truth)) + 1
    result, ranked, first, widths, own, of_first = [], [], [], [], [], []
    for run in range(runs):
        ratings = rate(tally(world.points(openings, generator), games), seed=run)
        each = []
        for i, j in itertools.combinations(range(n), 2):
            _, low, high = ratings.difference(f"{i:03}", f"{j:03}")
            each.append(low <= truth[i] - truth[j] <= high)
            widths.append(high - low)
        result.append(each)
        own += [(r.high - r.low, r.low <= truth[int(r.player)] <= r.high) for r in ratings]
        of_first += [r.low <= truth[0] <= r.high for r in ratings if r.player == "000"]
        ranked += [r.ranks[0] <= places[int(r.player)] <= r.ranks[1] for r in ratings]
        first.append(ratings.first_move.low <= true_first_move <= ratings.first_move.high)
    share = np.mean(result, 0)
    narrow = [right for _, right in sorted(own)[: len(own) // 10]]
    return Held(
        share.mean(), share.min(), np.mean(first), np.mean(ranked), np.median(widths),
        np.mean(narrow), np.mean(of_first),
    )  # fmt: skip


USUAL = World(evenly(4, 250), 40, 250, 150, 0.1)


def test_intervals_hold_the_truth():
    result = held(USUAL, 30, 100)
    assert 0.92 <= result.elo <= 0.98
    assert 0.89 <= result.first_move <= 0.99
    assert result.ranks >= 0.92


@pytest.mark.parametrize("world", [World((0.0,) * 9, 0, 0), World((0.0,) * 9, 0, 174, 150, 0.1)])
def test_intervals_that_few_openings_make_narrow_by_chance_hold_the_truth_too(world):
    """Without a floor, the narrowest of eight openings hold it in 72 and 81 % of cases."""
    assert held(world, 8, 60).narrow > 0.88


@pytest.mark.parametrize(("one", "other"), [(50, 50), (50, 2), (30, 3)])
def test_equal_games_and_a_rare_colour_leave_the_interval_right(one, other):
    """With equal games paired, it held in 60 to 80 % of cases; with 2 games as 26, in 50 %."""
    generator, items = np.random.default_rng([one, other]), []
    for _ in range(200):
        games = [
            GameRecord(players, "", ("4455667", "14251627")[winner], winner, "four")
            for players, count in ((("a", "b"), one), (("b", "a"), other))
            for winner in generator.integers(2, size=count).tolist()
        ]
        _, low, high = rate(Tally.of(games, "ab")).difference("a", "b")
        items.append(low <= 0 <= high)
    assert np.mean(items) > 0.9


@pytest.mark.parametrize(
    ("world", "openings", "runs", "least"),
    [
        (World(evenly(2, 338), 0, 0), 6, 20, 0.91),  # one side wins nearly all
        (World(evenly(2, 338), 0, 0), 121, 100, 0.91),
        (World((0.0,) * 6, 0, 400), 3, 80, 0.88),  # few openings need Student's tails
    ],
)
def test_the_worth_of_moving_first_is_held(world, openings, runs, least):
    assert held(world, openings, runs).first_move >= least


@pytest.mark.parametrize("openings", [4, 25])
def test_an_agent_that_never_scores_leaves_the_intervals_of_the_others_right(openings):
    others = 120.0, 90.0, 60.0, 30.0, 0.0
    result = held(World((*others, -1000.0), 0, 0), openings, 40)
    assert result.elo > 0.92
    assert result.least > 0.8
    generator = np.random.default_rng(4)
    widths = []
    for elo in ((*others, -1000.0), others):
        world, games = World(elo, 0, 0), 1 - np.eye(len(elo))
        several = [rate(tally(world.points(openings, generator), games)) for _ in range(9)]
        widths.append(np.mean([r.high - r.low for ratings in several for r in ratings[:4]]))
    assert widths[0] < 1.15 * widths[1]


@pytest.mark.parametrize("openings", [25, 121])
@pytest.mark.parametrize("others", [2, 5])
def test_agents_that_play_nearly_the_same_games_leave_each_others_intervals_right(others, openings):
    """If their difference counted, theirs would hold the truth in 25 to 62 % of cases."""
    result = held(World((0.0, *evenly(others, 200), 0.0), 0, 200, twin=True), openings, 40)
    assert result.elo > 0.92
    assert result.of_first > 0.85


@pytest.mark.parametrize("openings", [1, 4])
def test_a_newcomer_is_placed_right_by_a_few_openings(openings):
    world = World((*evenly(5, 200), 600.0), 0, 0)
    generator = np.random.default_rng([1, openings])
    own = np.zeros((6, 6))
    own[-1, :-1] = own[:-1, -1] = 1
    others = 1 - own - np.eye(6)
    truth, _ = world.truth(others + own * openings / 25, generator)
    items = []
    for run in range(60):
        points = world.points(25, generator)
        field = tally(points, others, tally(points[:openings], own))
        ratings = rate(field, seed=run, centre=field.players[:-1])
        for player, true in zip(field.players[:-1], truth, strict=False):
            _, low, high = ratings.difference("005", player)
            items.append(low <= truth[-1] - true <= high)
    assert np.mean(items) > 0.9
    # The games count like the field's games; only their weights are separate.
    games = np.where(np.arange(25)[:, None, None] < openings, 1 - np.eye(6), others)
    merged = rate(tally(points, games), centre=field.players[:-1])
    assert [r.elo for r in ratings] == pytest.approx([r.elo for r in merged])
    assert np.mean([r.elo for r in ratings if r.player != "005"]) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(("agents", "openings", "runs"), [(7, 4, 60), (7, 25, 60), (21, 25, 15)])
def test_equal_agents_are_seldom_said_to_be_weaker_than_the_leader(agents, openings, runs):
    """By pairs alone, some are in 14 to 29 of 100 runs of 7 agents, and in 87 of 100 runs of 21."""
    world, generator = World((0.0,) * agents, 0), np.random.default_rng([agents, openings])
    out = {False: 0, True: 0}
    for run in range(runs):
        ratings = rate(tally(world.points(openings, generator), 1 - np.eye(agents)), seed=run)
        alone = [ratings.difference(ratings[0].player, r.player).low <= 0 for r in ratings[1:]]
        out[False] += not all(alone)
        out[True] += len(ratings.rivals()) < agents - 1
    assert out[True] <= 0.05 * runs
    assert out[False] > 0.05 * runs  # the simulation notices what the bound is for


def test_the_best_of_many_is_not_drawn_to_the_mean_by_virtual_games():
    world, generator = World(evenly(21, 600), 0, 0), np.random.default_rng(2)
    ratings = [rate(tally(world.points(4, generator), 1 - np.eye(21))) for _ in range(5)]
    assert np.mean([r[0].elo - r[-1].elo for r in ratings]) == pytest.approx(1200, abs=150)


def alarms(world, openings, runs, seed=0):
    """The share of simulated round robins that are said to have a circle."""
    generator, n = np.random.default_rng([seed, openings]), len(world.elo)
    games, found = 1.0 - np.eye(n), 0
    for run in range(runs):
        points = world.points(openings, generator) * games
        won = points.sum(0)
        even = (won + openings * games - won.T) / 2
        elo = firth(even, openings * games, 2)[0][0]
        found += circles(tally(points, games), elo, run).found
    return found / runs


NO_CIRCLE = World((0.0,) * 9), World(evenly(7, 200), twin=True), World(evenly(9, 200), by_style=150)


@pytest.mark.parametrize("world", NO_CIRCLE)
def test_a_field_without_a_circle_seldom_shows_one(world):
    assert alarms(world, 25, 100) <= 0.05


def test_a_strong_circle_is_found():
    assert alarms(World(evenly(7, 350), circle=300), 25, 50) >= 0.9


PAIRS = {  # how often a pair of games brings 0, 1/2, 1, 3/2, 2 points, before one is the stronger
    "many draws": (0.05, 0.2, 0.5, 0.2, 0.05),
    "by opening": (0.08, 0.02, 0.8, 0.02, 0.08),
}


def tilted(shares, mean):
    """The shares times ``exp(t * score)``, with the ``t`` that gives them a mean score."""
    low, high = -100.0, 100.0
    for _ in range(100):
        weights = np.array(shares) * np.exp((low + high) / 2 * SCORES)
        weights /= weights.sum()
        low, high = ((low + high) / 2, high) if weights @ SCORES < mean else (low, (low + high) / 2)
    assert weights @ SCORES == pytest.approx(mean)
    return weights


def accepted(sprt, shares, generator):
    """The hypothesis that a simulated match accepts."""
    counts = np.zeros(len(SCORES))
    while True:
        kinds = generator.choice(len(SCORES), size=100, p=shares)
        running = counts + np.cumsum(np.eye(len(SCORES))[kinds], axis=0)
        llr = sprt.llr(running)
        crossed = np.flatnonzero((llr <= sprt.bounds[0]) | (llr >= sprt.bounds[1]))
        if len(crossed):
            return "H1" if llr[crossed[0]] > 0 else "H0"
        counts = running[-1]


@pytest.mark.parametrize("kind", PAIRS)
def test_a_sequential_test_errs_as_seldom_as_it_says(kind):
    sprt, matches, wrong = Sprt(0, 100, alpha=0.05, beta=0.1), 300, []
    for elo, error, most in ((sprt.h0, "H1", sprt.alpha), (sprt.h1, "H0", sprt.beta)):
        shares, generator = tilted(PAIRS[kind], expected_score(elo)), np.random.default_rng(0)
        items = [accepted(sprt, shares, generator) for _ in range(matches)]
        wrong.append(items.count(error) / matches)
        assert wrong[-1] <= most + 2.5 * (most * (1 - most) / matches) ** 0.5
    assert sum(wrong) > 0  # the test errs sometimes too
