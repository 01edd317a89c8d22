"""Do the statistics hold what they promise? Simulated tournaments and matches of known truth.

Intervals of ratings should hold the true Elo 95 times in 100; a sequential test should be
wrong no more often than it says.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from c4env.arrays import Float64s
from evaluation.strength.fit import fit
from evaluation.strength.ratings import Tally, rate_tally
from evaluation.strength.sprt import SCORES, Sprt, expected_score
from evaluation.tables import Shown, Table, number


class World(NamedTuple):
    """What is true in simulated tournaments; all but ``draws`` in Elo."""

    extremes: float  # the strongest agent is this far above the mean, the weakest below
    first_move: float  # what moving first is worth, on average
    opening_deviation: float  # standard deviation of that worth, by opening
    pairing_deviation: float  # and by opening and pair of agents
    draws: float  # share of games that are drawn


USUAL: Final = World(250, 40, 250, 150, 0.1)
LOPSIDED: Final = World(350, 100, 0, 0, 0)
"""One of two agents wins nearly all games, which says little of what moving first is worth."""

FIELDS: Final = (
    *((players, openings, USUAL) for players in (2, 6) for openings in (25, 121)),
    *((2, openings, LOPSIDED) for openings in (6, 121)),
)
"""Players, openings and truth of the simulations that are reported."""

KINDS_OF_PAIRS: Final = {
    "even": (0.2, 0.1, 0.4, 0.1, 0.2),
    "many draws": (0.05, 0.2, 0.5, 0.2, 0.05),
    "by opening": (0.08, 0.02, 0.8, 0.02, 0.08),
    "no draws": (0.25, 0.0, 0.5, 0.0, 0.25),
}
"""How often a pair of games brings 0, 1/2, 1, 3/2, 2 points, before one agent is the stronger."""


class Coverage(NamedTuple):
    """How often intervals held the truth, over all tournaments."""

    players: int
    openings: int
    tournaments: int
    elo: float  # share of the agents' intervals
    first_move: float  # share of the intervals of moving first
    ranks: float  # share of the rank intervals


def tournament(
    elo: Float64s, world: World, openings: int, generator: np.random.Generator
) -> Float64s:
    """Points ``(openings, players, players)`` of the first player in one game each.

    An opening favours one side, and suits some agents better than others, so that games of
    one opening hang together.
    """
    chances = _chances(elo, world, openings, generator)
    wins = generator.random(chances.shape) < chances
    return np.where(generator.random(chances.shape) < world.draws, 0.5, wins)


def coverage(
    players: int, openings: int, tournaments: int, seed: int = 0, world: World = USUAL
) -> Coverage:
    """Rate simulated round robins of agents evenly apart; count the truths the intervals hold.

    The truth is the fit to the expected points over very many openings.
    """
    generator = np.random.default_rng(np.random.SeedSequence([seed, players, openings]))
    names = tuple(f"{i:03}" for i in range(players))
    starts = tuple(f"{i:05}" for i in range(openings))
    games = np.broadcast_to(1.0 - np.eye(players), (openings, players, players))
    elo = np.linspace(world.extremes, -world.extremes, players)
    expected = _chances(elo, world, 20_000, generator).mean(0)
    expected = (1 - world.draws) * expected + world.draws / 2
    truth, true_first_move = fit(expected * games[0], games[0])
    held = np.zeros(3)
    for tried in range(tournaments):
        points = tournament(elo, world, openings, generator) * games
        ratings = rate_tally(Tally(names, starts, points, games), seed=tried)
        held[0] += np.mean([r.low <= truth[int(r.player)] <= r.high for r in ratings])
        held[1] += ratings.first_move.low <= true_first_move <= ratings.first_move.high
        held[2] += np.mean([r.ranks[0] <= int(r.player) + 1 <= r.ranks[1] for r in ratings])
    return Coverage(players, openings, tournaments, *map(float, held / tournaments))


def _chances(
    elo: Float64s, world: World, openings: int, generator: np.random.Generator
) -> Float64s:
    """Of the first player to win a game that is not drawn."""
    n = len(elo)
    edge = world.first_move + world.opening_deviation * generator.standard_normal((openings, 1, 1))
    suits = world.pairing_deviation * generator.standard_normal((openings, n, n))
    return 1 / (1 + 10 ** (-(elo[:, None] - elo[None, :] + edge + suits) / 400))


class Errors(NamedTuple):
    """What a sequential test did in simulated matches where H0, or H1, was exactly true."""

    matches: int  # under each hypothesis
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
    for hypothesis, (elo, error) in enumerate(((sprt.elo0, "H1"), (sprt.elo1, "H0"))):
        generator = np.random.default_rng(np.random.SeedSequence([seed, hypothesis]))
        truth = tilted(shares, expected_score(elo))
        decided = [_match(sprt, truth, generator) for _ in range(matches)]
        wrong.append(float(np.mean([decision == error for decision, _ in decided])))
        lengths.append(float(np.mean([pairs for _, pairs in decided])))
    return Errors(matches, *wrong, *lengths)


def tilted(shares: Sequence[float], mean: float) -> Float64s:
    """The shares times ``exp(t * score)``, with the ``t`` that gives them a mean score."""
    base = np.asarray(shares, np.float64)
    low, high = -100.0, 100.0
    for _ in range(100):
        weights = base * np.exp((low + high) / 2 * SCORES)
        weights /= weights.sum()
        low, high = ((low + high) / 2, high) if weights @ SCORES < mean else (low, (low + high) / 2)
    return np.asarray(weights)


def _match(sprt: Sprt, truth: Float64s, generator: np.random.Generator) -> tuple[str, int]:
    """The hypothesis accepted and the number of pairs it took."""
    low, high = sprt.bounds
    counts, before = np.zeros(len(SCORES)), 0
    while True:
        kinds = generator.choice(len(SCORES), size=100, p=truth)
        running = counts + np.cumsum(np.eye(len(SCORES))[kinds], axis=0)
        llr = sprt.llr(running)
        crossed = np.flatnonzero((llr <= low) | (llr >= high))
        if len(crossed):
            first = int(crossed[0])
            return "H1" if llr[first] >= high else "H0", before + first + 1
        counts, before = running[-1], before + len(kinds)


def report(count: int, seed: int = 0) -> list[Table]:
    """Coverage of intervals and errors of the sequential test, ``count`` simulations of each."""
    covered: list[list[Any]] = [["players", "openings", "most apart", "Elo", "first move", "rank"]]
    for players, openings, world in FIELDS:
        found = coverage(players, openings, count, seed, world)
        apart = Shown(2 * world.extremes, f"{2 * world.extremes:.0f} Elo")
        shares = (found.elo, found.first_move, found.ranks)
        covered.append([players, openings, apart, *(number(share, ".1%") for share in shares)])
    test = Sprt(0, 40)
    wrong: list[list[Any]] = [["pairs of games", "if 0", "if 40", "pairs if 0", "pairs if 40"]]
    for kind, kinds in KINDS_OF_PAIRS.items():
        errors = sprt_errors(test, kinds, count, seed)
        _, *shares_wrong, pairs_0, pairs_1 = errors
        cells = [number(share, ".1%") for share in shares_wrong]
        wrong.append([kind, *cells, number(pairs_0, ".0f"), number(pairs_1, ".0f")])
    return [
        Table(
            covered,
            f"95 % intervals in {count} simulated round robins: share that held the truth",
            left=(),
        ),
        Table(
            wrong,
            f"SPRT of {test.elo0:g} against {test.elo1:g} Elo, alpha {test.alpha:.0%}, beta "
            f"{test.beta:.0%}, in {count} simulated matches each: share of wrong decisions, pairs",
        ),
    ]
