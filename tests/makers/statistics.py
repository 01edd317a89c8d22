"""Do the statistics hold what they promise? Simulated tournaments and matches of known truth.

Intervals of ratings should hold the truth 95 times in 100, a sequential test be wrong no more
often than it says. --count simulations of each; a quarter of them where there are 21 agents.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np

from c4env.arrays import Bools, Float64s
from c4env.evaluation.cli.options import at_least
from c4env.evaluation.cli.output import say, show
from c4env.evaluation.rating.fit import fit
from c4env.evaluation.rating.ratings import rate
from c4env.evaluation.rating.sprt import SCORES, Sprt, expected_score
from c4env.evaluation.rating.tally import Tally
from c4env.evaluation.studies.leaderboard import TRIAL
from c4env.evaluation.tables import Table


class World(NamedTuple):
    """What is true in simulated tournaments; all but ``draws`` and ``decided`` in Elo."""

    extremes: float = 0.0  # the strongest agent is this far above the mean, the weakest below
    first_move: float = 17.0  # what moving first is worth, on average
    opening_deviation: float = 174.0  # standard deviation of that worth, by opening
    pairing_deviation: float = 0.0  # and by opening and pair of agents
    draws: float = 0.0  # share of games that are drawn
    behind: float = 0.0  # how much further below the weakest is
    decided: float | None = None  # pairs of games that are not 1-1; all else counts for nothing


USUAL: Final = World(250, 40, 250, 150, 0.1)
EVEN: Final = World(350)
HOPELESS: Final = World(45, behind=1000)
"""One agent hardly ever scores."""
BIASED: Final = World(90, opening_deviation=695)
"""The opening decides most games."""
LOPSIDED: Final = World(338, 0, 0)
"""One of two agents wins nearly all games, which says little of what moving first is worth."""

TWO: Final = {
    **{f"{k} pairs decide": World(decided=k) for k in (2, 3, 4, 6, 10)},
    "50 % of the points": World(0, 0, 0),
    "90 %": World(191, 0, 0),
    "98 %": LOPSIDED,
    "openings biased by 520 Elo": World(0, 0, 521),
    "by 1040 Elo": World(0, 0, 1042),
}
"""Of two agents."""
MANY: Final = {
    "7, evenly apart": (7, EVEN),
    "7, one never scores": (7, HOPELESS),
    "7, biased openings": (7, BIASED),
    "6, openings suit pairs": (6, USUAL),
    "21, evenly apart": (21, World(520)),
}
"""Players and truth of fields."""
NEWCOMERS: Final = {"average": 0, "far the best": 700, "never scores": -1500}
"""Elo above the mean of the field, of 11 agents over 25 openings, where they are placed."""
FIELD: Final = World(300)
KINDS_OF_PAIRS: Final = {
    "even": (0.2, 0.1, 0.4, 0.1, 0.2),
    "many draws": (0.05, 0.2, 0.5, 0.2, 0.05),
    "by opening": (0.08, 0.02, 0.8, 0.02, 0.08),
    "no draws": (0.25, 0.0, 0.5, 0.0, 0.25),
}
"""How often a pair of games brings 0, 1/2, 1, 3/2, 2 points, before one agent is the stronger."""

APART: Final = 40  # Elo between the hypotheses of the tests that are reported


class Coverage(NamedTuple):
    """How often intervals held the truth, over all tournaments."""

    elo: float  # share of the differences of two agents, read off their two intervals
    least: float  # of the two agents that were held least often
    first_move: float  # share of the intervals of moving first
    ranks: float  # share of the rank intervals
    width: float  # of the difference of two agents in Elo, the median


def tournament(
    elo: Float64s, world: World, openings: int, generator: np.random.Generator
) -> tuple[Float64s, Float64s]:
    """Points ``(openings, players, players)`` of the first player in one game each, and expected.

    An opening favours one side, and suits some agents better than others, so that games of
    one opening hang together.
    """
    chances = _chances(elo, world, openings, generator)
    wins = generator.random(chances.shape) < chances
    points = np.where(generator.random(chances.shape) < world.draws, 0.5, wins)
    return points, (1 - world.draws) * chances + world.draws / 2


def coverage(
    players: int, openings: int, tournaments: int, seed: int = 0, world: World = USUAL
) -> Coverage:
    """Rate simulated round robins of agents evenly apart; count the truths the intervals hold.

    The truth is the fit to the expected points over very many openings; of one opening alone to
    those of this opening, since its games say nothing of others.
    """
    generator = np.random.default_rng(np.random.SeedSequence([seed, players, openings]))
    games = np.broadcast_to(1.0 - np.eye(players), (openings, players, players))
    elo = np.linspace(world.extremes, -world.extremes, players)
    elo[-1] -= world.behind
    truth, true_first_move = _truth(_expected(elo, world, generator), games[0])
    held, ranked, first, widths = [], [], 0, []
    for tried in range(tournaments):
        points, expected = tournament(elo, world, openings, generator)
        if openings == 1:
            truth, true_first_move = _truth(expected[0], games[0])
        tally = _tally(points * games, games)
        ratings = rate(tally, seed=tried)
        read = [
            (ratings.difference(tally.players[i], tally.players[j]), truth[i] - truth[j])
            for i, j in itertools.combinations(range(players), 2)
        ]
        held.append([low <= true <= high for (_, low, high), true in read])
        widths += [high - low for (_, low, high), _ in read]
        ranked += [r.ranks[0] <= int(r.player) + 1 <= r.ranks[1] for r in ratings]
        first += ratings.first_move.low <= true_first_move <= ratings.first_move.high
    each = np.mean(held, 0)
    found = each.mean(), each.min(), first / tournaments, np.mean(ranked), np.median(widths)
    return Coverage(*map(float, found))


def placed(newcomer: float, openings: int, placements: int, seed: int = 0) -> tuple[float, float]:
    """How often the intervals of a newcomer and of a member of a field hold their difference."""
    generator = np.random.default_rng(np.random.SeedSequence([seed, openings]))
    elo = np.array([*np.linspace(-FIELD.extremes, FIELD.extremes, 11), newcomer])
    own = np.zeros((12, 12), dtype=bool)
    own[-1, :-1] = own[:-1, -1] = True
    games = np.broadcast_to(1.0 - np.eye(12), (25, 12, 12))
    met = np.where(own, openings / 25, games[0])
    truth = _truth(_expected(elo, FIELD, generator), met)[0]
    held, widths = [], []
    for tried in range(placements):
        points = tournament(elo, FIELD, 25, generator)[0] * games
        few = _tally(points[:openings] * own, games[:openings] * own)
        few = replace(few, by_pairs=openings < TRIAL)
        tally = _tally(points * ~own, games * ~own, few)
        ratings = rate(tally, seed=tried, centre=tally.players[:-1])
        for player, true in zip(tally.players[:-1], truth, strict=False):
            _, low, high = ratings.difference("011", player)
            held.append(low <= truth[-1] - true <= high)
            widths.append(high - low)
    return float(np.mean(held)), float(np.median(widths))


def _tally(points: Float64s, games: Float64s, beside: Tally | None = None) -> Tally:
    names = tuple(f"{i:03}" for i in range(points.shape[1]))
    return Tally(names, tuple(f"{i:05}" for i in range(len(points))), points, games, beside)


def _truth(expected: Float64s, games: Float64s) -> tuple[Float64s, float]:
    """Elo, by the share of all points that is to be expected, and what moving first is worth."""
    alike = (expected + 1 - expected.T) / 2
    return fit(alike * games, games)[0], float(fit(expected * games, games)[1])


def _expected(elo: Float64s, world: World, generator: np.random.Generator) -> Float64s:
    """Points of the first player to be expected over very many openings."""
    expected = np.mean([_chances(elo, world, 500, generator).mean(0) for _ in range(40)], 0)
    return (1 - world.draws) * expected + world.draws / 2


def _chances(
    elo: Float64s, world: World, openings: int, generator: np.random.Generator
) -> Float64s:
    """Of the first player to win a game that is not drawn."""
    n = len(elo)
    if world.decided is not None:
        firsts = (generator.random((openings, 1, 1)) < 0.5) * np.ones((n, n))
        one = generator.random((openings, 1, 1)) < 0.5
        row = np.where(one, [[0, 1], [0, 0]], [[0, 0], [1, 0]])
        decided: Bools = generator.random((openings, 1, 1)) < world.decided / openings
        return np.where(decided, row, firsts)
    edge = world.first_move + world.opening_deviation * generator.standard_normal((openings, 1, 1))
    suits = world.pairing_deviation * generator.standard_normal((openings, n, n))
    return 1 / (1 + 10 ** (-(elo[:, None] - elo[None, :] + edge + suits) / 400))


class Errors(NamedTuple):
    """What a sequential test did in simulated matches where H0, or H1, was exactly true."""

    wrong_under_h0: float  # share that accepted H1: to be at most alpha
    wrong_under_h1: float  # share that accepted H0: to be at most beta
    pairs_under_h0: float  # mean number of pairs to the decision
    pairs_under_h1: float


def sprt_errors(sprt: Sprt, shares: Sequence[float], matches: int, seed: int = 0) -> Errors:
    """Play simulated matches to their decision.

    Args:
        sprt: the test.
        shares: of the five kinds of pairs; tilted to the mean score of either hypothesis.
        matches: under each hypothesis.
        seed: the same gives the same matches.
    """
    wrong, lengths = [], []
    for i, (elo, error) in enumerate(((sprt.h0, "H1"), (sprt.h1, "H0"))):
        generator = np.random.default_rng(np.random.SeedSequence([seed, i]))
        truth = tilted(shares, expected_score(elo))
        decided = [_match(sprt, truth, generator) for _ in range(matches)]
        wrong.append(float(np.mean([decision == error for decision, _ in decided])))
        lengths.append(float(np.mean([pairs for _, pairs in decided])))
    return Errors(*wrong, *lengths)


def tilted(shares: Sequence[float], mean: float) -> Float64s:
    """The shares times ``exp(t * score)``, with the ``t`` that gives them a mean score."""
    base = np.asarray(shares, np.float64)
    low, high = -100.0, 100.0
    for _ in range(100):
        weights = base * np.exp((low + high) / 2 * SCORES)
        weights /= weights.sum()
        low, high = ((low + high) / 2, high) if weights @ SCORES < mean else (low, (low + high) / 2)
    return np.asarray(weights)


def _match(sprt: Sprt, shares: Float64s, generator: np.random.Generator) -> tuple[str, int]:
    """The hypothesis accepted and the number of pairs it took."""
    low, high = sprt.bounds
    counts, before = np.zeros(len(SCORES)), 0
    while True:
        kinds = generator.choice(len(SCORES), size=100, p=shares)
        running = counts + np.cumsum(np.eye(len(SCORES))[kinds], axis=0)
        llr = sprt.llr(running)
        crossed = np.flatnonzero((llr <= low) | (llr >= high))
        if len(crossed):
            first = int(crossed[0])
            return "H1" if llr[first] >= high else "H0", before + first + 1
        counts, before = running[-1], before + len(running)


def report(count: int, seed: int = 0) -> list[Table]:
    """Coverage of intervals and errors of the sequential test, ``count`` simulations of each."""
    worlds = [(f"2, {name}", 2, world, (4, 25, 121)) for name, world in TWO.items()]
    worlds += [(name, *field, (1, 4, 25)) for name, field in MANY.items()]
    covered: list[list[Any]] = []
    for name, players, world, sizes in worlds:
        tried = -(-count // 4) if players > 7 else count
        for openings in sizes:
            if openings < (world.decided or 0):
                continue
            *shares, width = coverage(players, openings, tried, seed, world)
            covered.append([name, openings, *shares, width])
    place: list[list[Any]] = []
    for name, elo in NEWCOMERS.items():
        for openings in (1, 2, 4, 6, 25):
            held, width = placed(elo, openings, count, seed)
            place.append([name, openings, held, width])
    test = Sprt(0, APART)
    wrong: list[list[Any]] = []
    for kind, kinds in KINDS_OF_PAIRS.items():
        wrong.append([kind, *sprt_errors(test, kinds, count, seed)])
    chances = f"alpha {test.alpha:.0%}, beta {test.beta:.0%}, in {count} matches each"
    return [
        Table.of(
            {"players, truth": "", "openings": ""}
            | dict.fromkeys(("Elo", "least", "first move", "rank"), ".1%")
            | {"width": ".0f"},
            covered,
            f"95 % intervals in {count} simulated round robins: share that held the truth",
        ),
        Table.of(
            {"newcomer": "", "openings": "", "Elo": ".1%", "width": ".0f"},
            place,
            f"the same of a newcomer among 11 agents, in {count} placements",
        ),
        Table.of(
            {"pairs of games": "", "wrong if 0": ".1%", f"wrong if {APART}": ".1%"}
            | {"pairs if 0": ".0f", f"pairs if {APART}": ".0f"},
            wrong,
            f"SPRT of 0 against {APART} Elo, {chances}, simulated: share of wrong decisions, pairs",
        ),
    ]


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--count", type=int, default=100, metavar="N", help="(default 100)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="(default 0)")


def execute(arguments: argparse.Namespace) -> None:
    """Print the tables."""
    at_least(arguments, 1, "count")
    at_least(arguments, 0, "seed")
    for place, table in enumerate(report(arguments.count, arguments.seed)):
        say("\n" * bool(place), end="")
        show(table, arguments)
