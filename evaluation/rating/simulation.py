"""Do the statistics hold what they promise? Simulated tournaments and matches of known truth.

Intervals of ratings should hold the true Elo 95 times in 100; a sequential test should be
wrong no more often than it says. What the test on points given away
(``c4env.evaluation.rating.loss``)
saves is told by drawing the same pairs of games for it and for the test of Elo. Pairs of real
games have a known truth too: drawn again with both agents exchanged in half of them, two are
equally strong, and exchanged in fewer, they are a known Elo apart, and a known number of points.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np

from c4env.arrays import Float64s
from c4env.evaluation.errors import InvalidRun
from c4env.evaluation.rating.fit import fit
from c4env.evaluation.rating.loss import LossSprt, difference, sums_of
from c4env.evaluation.rating.ratings import rate
from c4env.evaluation.rating.sprt import SCORES, Sprt, expected_score
from c4env.evaluation.rating.tally import Tally
from c4env.evaluation.tables import Shown, Table, number


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

DIFFICULTY: Final = 0.6
"""Standard deviation of the logarithm of how difficult simulated openings are."""

KINDS_OF_PAIRS: Final = {
    "even": (0.2, 0.1, 0.4, 0.1, 0.2),
    "many draws": (0.05, 0.2, 0.5, 0.2, 0.05),
    "by opening": (0.08, 0.02, 0.8, 0.02, 0.08),
    "no draws": (0.25, 0.0, 0.5, 0.0, 0.25),
}
"""How often a pair of games brings 0, 1/2, 1, 3/2, 2 points, before one agent is the stronger."""


WORLDS: Final = {
    "simulated, 0.2 points given away a game": (0.03, 0.07),
    "simulated, 0.9 points given away a game": (0.14, 0.22),
    "simulated, 2.3 points given away a game": (0.4, 0.6),
}
"""How often two agents err at a critical move, by what both give away."""

FUTILE: Final = 10
"""Times as many games as on Elo, at which a test on points given away is not tried."""

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
    generators = [np.random.default_rng(np.random.SeedSequence([seed, i])) for i in (0, 1)]
    truths = [tilted(shares, expected_score(elo)) for elo in (sprt.h0, sprt.h1)]

    def draw(hypothesis: int, match: int, count: int) -> Float64s:
        kinds = generators[hypothesis].choice(len(SCORES), size=count, p=truths[hypothesis])
        return np.asarray(np.eye(len(SCORES))[kinds])

    return _errors(sprt, matches, draw)


def _errors(sprt: Sprt, matches: int, draw: Callable[[int, int, int], Float64s]) -> Errors:
    """Play matches under H0 and H1; ``draw(hypothesis, match, count)`` gives pairs' summands."""
    wrong, lengths = [], []
    for hypothesis, error in enumerate(("H1", "H0")):
        decided = [_match(sprt, partial(draw, hypothesis, match)) for match in range(matches)]
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


def _match(sprt: Sprt, draw: Callable[[int], Float64s]) -> tuple[str, int]:
    """The hypothesis accepted and the number of pairs it took; ``draw`` gives their summands."""
    low, high = sprt.bounds
    total, before = np.zeros(1), 0
    while True:
        running = total + np.cumsum(draw(100), axis=0)
        llr = sprt.llr(running)
        crossed = np.flatnonzero((llr <= low) | (llr >= high))
        if len(crossed):
            first = int(crossed[0])
            return "H1" if llr[first] >= high else "H0", before + first + 1
        total, before = running[-1], before + len(running)


def simulated_pairs(
    count: int, errors: tuple[float, float], generator: np.random.Generator
) -> Float64s:
    """Pairs of games ``(count, 5)`` of two that err so often at a critical move.

    A game is 26 plies long. It begins won, drawn or lost; who is not lost may stand at a critical
    move, and an error there gives the draw away or the win, mostly all of it. Openings are more
    or less difficult, for both alike.
    """
    pairs = np.zeros((count, 5))
    hard = np.exp(DIFFICULTY * generator.standard_normal(count) - DIFFICULTY**2 / 2)
    opening = generator.choice([1, 0, -1], count, p=(0.45, 0.25, 0.3))
    for seat in (0, 1):  # of the agent in question
        value = opening.copy()  # for the side to move
        for ply in range(26):
            one = ply % 2 == seat
            critical = (value > -1) & (generator.random(count) < 0.4)
            chance = np.minimum(errors[not one] * hard, 0.95)
            erring = critical & (generator.random(count) < chance)
            after = np.where((value == 1) & (generator.random(count) < 0.25), 0, -1)
            after = np.where(erring, after, value)
            pairs[:, [1, 2] if one else [3, 4]] += np.column_stack([(value - after) / 2, critical])
            value = -after
        pairs[:, 0] += (1 + (value if seat == 0 else -value)) / 2
    return pairs


class Compared(NamedTuple):
    """Both tests on the same matches, of agents that are alike, or so far apart."""

    points: float  # given away fewer per 100 critical moves, where the agents are so far apart
    on_elo: Errors
    on_loss: Errors | None  # None where it would take over FUTILE times as many games


def both_tests(pairs: Float64s, elo: float, matches: int, seed: int = 0) -> Compared:
    """Put both tests to pairs drawn again, of agents that are alike or ``elo`` apart.

    Args:
        pairs: ``(N, 5)``, as :meth:`Sprt.of_pairs` takes them.
        elo: to tell apart from 0; less than lies between the two.
        matches: under each hypothesis.
        seed: the same gives the same matches.

    Raises:
        InvalidRun: the two are not so far apart.
    """
    exchanged = np.column_stack([2 - pairs[:, 0], pairs[:, [3, 4, 1, 2]]])
    lead = float(pairs[:, 0].mean() - 1) if len(pairs) else 0.0
    if lead < 0:
        pairs, exchanged, lead = exchanged, pairs, -lead
    excess = 2 * expected_score(elo) - 1
    if lead < excess:
        raise InvalidRun(
            f"one of two scores {(1 + lead) / 2:.1%}: expected games of two at least {elo:g} Elo "
            f"apart, {(1 + excess) / 2:.1%}"
        )
    kept = 0.5 + excess / lead / 2
    weights = np.repeat((kept, 1 - kept), len(pairs))
    fewer, variance = difference(weights @ sums_of(np.concatenate([pairs, exchanged])))
    points = 100 * float(fewer)
    elo_test, loss_test = Sprt(0, elo), LossSprt(0, max(points, 1e-9))
    signal = float(fewer * abs(fewer) / variance), excess**2 / float(pairs[:, 0].var() + lead**2)
    generators: dict[tuple[Sprt, int, int], np.random.Generator] = {}

    def draw(test: Sprt, hypothesis: int, match: int, count: int) -> Float64s:
        key = seed, hypothesis, match  # the same match for both
        generator = generators.setdefault((test, *key[1:]), np.random.default_rng(key))
        which = generator.integers(len(pairs), size=count)
        keep = generator.random(count)[:, None] < (0.5, kept)[hypothesis]
        return test.of_pairs(np.where(keep, pairs[which], exchanged[which]))

    on_elo = _errors(elo_test, matches, partial(draw, elo_test))
    if FUTILE * signal[0] < signal[1]:
        return Compared(points, on_elo, None)
    return Compared(points, on_elo, _errors(loss_test, matches, partial(draw, loss_test)))


def report(count: int, seed: int = 0, played: Mapping[str, Float64s] | None = None) -> list[Table]:
    """Coverage of intervals and errors of the sequential tests, ``count`` simulations of each.

    Args:
        count: tournaments, and matches under each hypothesis.
        seed: the same gives the same tables.
        played: pairs of real games to draw again (:func:`both_tests`), by what they are called.
    """
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
        wrong.append([kind, *_cells(sprt_errors(test, kinds, count, seed))])
    both: list[list[Any]] = [["pairs of games", "test on", "H1", *heading, "pairs to Elo's"]]
    generator = np.random.default_rng(np.random.SeedSequence(seed))
    worlds = {name: simulated_pairs(5000, pair, generator) for name, pair in WORLDS.items()}
    for name, pairs in {**worlds, **(played or {})}.items():
        points, elo, loss = both_tests(pairs, APART, count, seed)
        both.append([name, "Elo", Shown(APART, f"{APART} Elo"), *_cells(elo), number(1.0, ".2f")])
        cells = [*[None] * 4, Shown(None, f"> {FUTILE}")]
        if loss is not None:
            cells = [*_cells(loss), number(sum(loss[2:]) / sum(elo[2:]), ".2f")]
        both.append([name, "loss", Shown(points, f"{points:.1f} points"), *cells])
    chances = f"alpha {test.alpha:.0%}, beta {test.beta:.0%}, in {count} matches each"
    titles = (
        f"95 % intervals in {count} simulated round robins: share that held the truth",
        f"SPRT of 0 against {APART} Elo, {chances}, simulated: share of wrong decisions, pairs",
        f"SPRT on Elo and on points given away, {chances}, the same for both: simulated "
        "games, and real ones drawn again",
    )
    rows, left = (covered, wrong, both), ((0,), (0,), (0, 1))
    return [Table(*parts) for parts in zip(rows, titles, ((),) * 3, left, strict=True)]


def _cells(errors: Errors) -> list[Any]:
    shares = [number(share, ".1%") for share in errors[:2]]
    return [*shares, *(number(pairs, ".0f") for pairs in errors[2:])]
