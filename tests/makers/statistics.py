"""Do the statistics hold what they promise? Simulated tournaments and matches of known truth.

Intervals of ratings should hold the true Elo 95 times in 100; a sequential test should be wrong
no more often than it says. --count simulations of each.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from c4env.arrays import Float64s
from c4env.evaluation.cli.options import at_least
from c4env.evaluation.cli.output import say, show
from c4env.evaluation.rating.fit import fit
from c4env.evaluation.rating.ratings import rate
from c4env.evaluation.rating.sprt import SCORES, Sprt, expected_score
from c4env.evaluation.rating.tally import Tally
from c4env.evaluation.tables import Table, number


class World(NamedTuple):
    """What is true in simulated tournaments; all but ``draws`` in Elo."""

    extremes: float  # the strongest agent is this far above the mean, the weakest below
    first_move: float  # what moving first is worth, on average
    opening_deviation: float  # standard deviation of that worth, by opening
    pairing_deviation: float  # and by opening and pair of agents
    draws: float  # share of games that are drawn
    behind: float = 0.0  # how much further below the weakest is


USUAL: Final = World(250, 40, 250, 150, 0.1)
LOPSIDED: Final = World(350, 100, 0, 0, 0)
"""One of two agents wins nearly all games, which says little of what moving first is worth."""
EVEN: Final = World(0, 40, 1500, 0, 0)
"""The opening decides nearly all games: few pairs of two equals are not 1-1."""
HOPELESS: Final = World(100, 40, 150, 0, 0, 1000)
"""One agent hardly ever scores."""
SPREAD: Final = World(500, 20, 175, 0, 0)

FIELDS: Final = (
    *(("usual", players, openings, USUAL) for players in (2, 6) for openings in (4, 25, 121)),
    *(("700 Elo apart", 2, openings, LOPSIDED) for openings in (6, 121)),
    *(("few pairs decide", 2, openings, EVEN) for openings in (25, 121)),
    *(("openings decide", 6, openings, EVEN) for openings in (4, 25)),
    *(("one never scores", 7, openings, HOPELESS) for openings in (4, 25)),
    ("1000 Elo apart", 21, 4, SPREAD),
)
"""Name, players, openings and truth of the simulations that are reported."""

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

    elo: float  # share of the agents' intervals
    first_move: float  # share of the intervals of moving first
    ranks: float  # share of the rank intervals
    width: float  # of an agent's interval in Elo, the median


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
    elo[-1] -= world.behind
    expected = _chances(elo, world, 20_000, generator).mean(0)
    expected = (1 - world.draws) * expected + world.draws / 2
    truth, true_first_move = fit(expected * games[0], games[0])
    held, widths = np.zeros(3), []
    for tried in range(tournaments):
        points = tournament(elo, world, openings, generator) * games
        ratings = rate(Tally(names, starts, points, games), seed=tried)
        widths += [r.high - r.low for r in ratings]
        held[0] += np.mean([r.low <= truth[int(r.player)] <= r.high for r in ratings])
        held[1] += ratings.first_move.low <= true_first_move <= ratings.first_move.high
        held[2] += np.mean([r.ranks[0] <= int(r.player) + 1 <= r.ranks[1] for r in ratings])
    elo_held, first_move, ranks = map(float, held / tournaments)
    return Coverage(elo_held, first_move, ranks, float(np.median(widths)))


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
    covered: list[list[Any]] = [["truth", "players", "openings", "Elo", "first move", "rank"]]
    covered[0].append("width")
    for name, players, openings, world in FIELDS:
        *shares, width = coverage(players, openings, count, seed, world)
        cells = [*(number(share, ".1%") for share in shares), number(width, ".0f")]
        covered.append([name, players, openings, *cells])
    test = Sprt(0, APART)
    heading = ["wrong if 0", f"if {APART}", "pairs if 0", f"if {APART}"]
    wrong: list[list[Any]] = [["pairs of games", *heading]]
    for kind, kinds in KINDS_OF_PAIRS.items():
        errors = sprt_errors(test, kinds, count, seed)
        shares = [number(share, ".1%") for share in errors[:2]]
        wrong.append([kind, *shares, *(number(pairs, ".0f") for pairs in errors[2:])])
    chances = f"alpha {test.alpha:.0%}, beta {test.beta:.0%}, in {count} matches each"
    return [
        Table(
            covered,
            f"95 % intervals in {count} simulated round robins: share that held the truth",
        ),
        Table(
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
