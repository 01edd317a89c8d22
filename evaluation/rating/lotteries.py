"""Find cycles among agents, which Elo cannot show, and rank agents by maximal lotteries.

In a cycle, a beats b, b beats c, and c beats a. The clarity of a cycle is that of its least clear
win. A significance test flips the signs of the openings' results at random. A cycle is significant
if the flipped results rarely contain a win that is at least as clear.

A maximal lottery is a mixture of agents that no agent beats on average. The essential set contains
every agent that occurs in a maximal lottery. The essential set of the field comes first, then the
essential set of the remaining agents, and so on. Copies of an agent do not change the order of the
other agents.

Sources: Brandl, Brandt and Seedig, "Consistent Probabilistic Social Choice", Econometrica 84, 2016;
Dutta and Laslier, "Comparison functions and choice correspondences", Social Choice and Welfare 16,
1999.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from c4env.arrays import Bools, Float64s, Int64s
from c4env.evaluation.errors import InvalidRun
from c4env.evaluation.seeds import seeds
from c4env.evaluation.tables import Table
from c4env.lazy import from_extra

from .ratings import TAILS, format_ranks
from .tally import Tally

SURE: Final = 0.95
_RESAMPLES: Final = 200  # few, since each may need several linear programs
_NEEDS_SCIPY: Final = "maximal lotteries need scipy"
_TIE: Final = 1e-9  # points per game; results with a smaller difference are equal


class Place(NamedTuple):
    """The place of an agent by maximal lotteries."""

    player: str
    place: int  # 1 is the best; agents of one essential set share a place
    places: tuple[int, int]  # 95 % interval of the place


class Standing(NamedTuple):
    """The clearest cycle, and the order by maximal lotteries."""

    cycle: tuple[str, ...]  # each agent beats the next, the last the first; () without a cycle
    confidence: float  # probability that chance alone gives no win as clear as those of the cycle
    places: tuple[Place, ...]  # the best agent first; empty without scipy
    exact: bool  # the results are complete, not a sample

    def table(self) -> Table:
        """A table with a note on cycles and, if scipy is installed, a row for each agent."""
        beats = zip(self.cycle, (*self.cycle[1:], *self.cycle[:1]), strict=True)
        said = ", ".join(f"{one} beats {other}" for one, other in beats) or "none"
        if self.cycle and self.exact:
            said = f"exact over this set, {said}"
        elif self.cycle:
            sure = self.confidence >= SURE
            kind = "beyond chance," if sure else "none beyond chance; the clearest is"
            said = f"{kind} {said} ({self.confidence:.0%} sure)"
        missing = "" if self.places else f" {_NEEDS_SCIPY}: pip install 'c4env[lotteries]'."
        rows = [["by maximal lotteries", "place", "95 %"]] if self.places else []
        rows += [[p.player, str(p.place), format_ranks(p.places)] for p in self.places]
        return Table(rows, notes=(f"Cycles: {said}.{missing}",))

    def as_dict(self) -> dict[str, Any]:
        """The standing as plain Python objects."""
        return {**self._asdict(), "places": [place._asdict() for place in self.places]}


def standing(tally: Tally, exact: bool = False) -> Standing:
    """Find the clearest cycle of a field and the order of its agents by maximal lotteries.

    Args:
        tally: points and games of a field in which all agents have met.
        exact: whether the results are complete, as in :attr:`Ratings.exact`.

    Raises:
        InvalidRun: two of the agents did not meet.
    """
    players = tally.players
    unmet = np.argwhere(_gains(tally)[1][0] + np.eye(len(players)) == 0)
    if len(unmet):
        one, other = (players[i] for i in unmet[0])
        raise InvalidRun(f"{one} and {other} did not meet: expected games of every pair")
    cycle, confidence = clearest_cycle(tally)
    places = _places(tally, exact) if importlib.util.find_spec("scipy") else ()
    return Standing(cycle, 1.0 if exact else confidence, places, exact)


def _gains(tally: Tally, weights: Sequence[Float64s] = ()) -> tuple[Float64s, Float64s]:
    """Return the row's points above half of the games, and the games, both ``[draws, n, n]``."""
    points, games = tally.sums(weights)
    excess = points - games / 2
    return excess - excess.swapaxes(1, 2), games + games.swapaxes(1, 2)


def _places(tally: Tally, exact: bool) -> tuple[Place, ...]:
    def tiers_of(weights: Sequence[Float64s] = ()) -> Int64s:
        (gains,), (games,) = _gains(tally, weights)
        return essential_tiers(gains / np.maximum(games, _TIE))

    players, tiers = tally.players, tiers_of()
    # Only the openings give the seed, so that a copy of an agent changes no draw.
    generator = np.random.default_rng(seeds(tally.openings, 0, 0))
    draws = [] if exact else [tally.weights(generator, 1) for _ in range(_RESAMPLES)]
    drawn = np.array([tiers_of(weights) for weights in draws] or [tiers])
    ranks = 1 + (drawn[:, None, :] < drawn[:, :, None]).sum(-1)
    low, high = np.percentile(ranks, TAILS, axis=0, method="inverted_cdf").astype(int).tolist()
    place = 1 + (tiers < tiers[:, None]).sum(-1)
    order = sorted(range(len(tiers)), key=lambda i: (tiers[i], drawn[:, i].mean(), players[i]))
    return tuple(Place(players[i], int(place[i]), (low[i], high[i])) for i in order)


def maximal_lottery(margins: Float64s) -> tuple[Float64s, Bools]:
    """Find the maximal lottery with the most agents; all other agents are in no maximal lottery.

    Args:
        margins: ``margins[i, j]`` is the gain of agent i against agent j, ``[n, n]``.

    Returns:
        probabilities ``[n]``, and whether each agent is in some maximal lottery ``[n]``.

    Raises:
        MissingExtra: scipy is not installed.
    """
    with from_extra("lotteries", _NEEDS_SCIPY):
        from scipy.optimize import linprog
    n = len(margins)
    payoff = margins.T / max(float(np.abs(margins).max()), _TIE)  # [against, of]
    best = np.column_stack([-payoff, np.zeros(n)])
    inside = np.column_stack([-(np.eye(n) + payoff), np.ones(n)])
    # The last variable is the distance from the boundary.
    objective, total = np.append(np.zeros(n), -1), np.append(np.ones(n), 0)[None]
    found = linprog(objective, np.vstack([best, inside]), np.zeros(2 * n), total, [1])
    lottery = np.asarray(found.x[:n], np.float64)
    return lottery, lottery > payoff @ lottery


def essential_tiers(margins: Float64s) -> Int64s:
    """Return the tier of each agent: 0 in the essential set, 1 in the next essential set, ..."""
    tiers, left = np.zeros(len(margins), np.int64), np.arange(len(margins))
    while len(left):
        some = margins[np.ix_(left, left)]
        beats_all = (some > _TIE).sum(1) == len(left) - 1  # usual case, without a linear program
        top = beats_all if beats_all.any() else maximal_lottery(some)[1]
        left = left[~top]
        tiers[left] += 1
    return tiers


def clearest_cycle(tally: Tally) -> tuple[tuple[str, ...], float]:
    """Find the clearest cycle of three agents, and the confidence in it (1 minus the p-value)."""
    excess = tally.points - tally.games / 2
    mirrored = excess.swapaxes(1, 2)
    by_opening = tally.resampled == "openings"  # otherwise the unit is the game
    squares = (excess - mirrored) ** 2 if by_opening else excess**2 + mirrored**2
    size = np.maximum(np.sqrt(squares.sum(0)), _TIE)
    clear = _gains(tally)[0][0] / size
    least = np.minimum(np.minimum(clear[:, :, None], clear), clear.T[:, None])  # [a, b, c]
    if (threshold := least.max()) <= _TIE:
        return (), 0.0
    generator, as_clear = np.random.default_rng(seeds(tally.openings, 0, 1)), 1
    for _ in range(100):  # 2000 draws in total, 20 in one array
        signs = generator.choice([-1.0, 1.0], (20, *excess.shape[: 1 if by_opening else 3]))
        largest = np.abs(_gains(tally, (signs,))[0] / size).max((1, 2))
        as_clear += int((largest >= threshold - _TIE).sum())
    cycle = np.unravel_index(least.argmax(), least.shape)
    return tuple(tally.players[i] for i in cycle), 1 - as_clear / 2001
