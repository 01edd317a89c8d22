"""What Elo cannot show: cycles in a field, and the order of its agents by maximal lotteries.

*Is there a cycle*, a beats b, b beats c, c beats a, beyond chance? The sign of each opening's gains
is drawn again, for all pairs alike. The largest statistic of all pairs says how far chance goes, so
what is sure of several pairs is sure of all at once.

*Who is best?* A maximal lottery draws an agent such that no other beats the draw on average: an
optimal strategy of the zero-sum game whose payoffs are the mean results. The agents that some
maximal lottery draws (the essential set) come first, then those of the field without them, and so
on. Copies of an agent change nothing in the order of the others.

Sources: Brandl, Brandt and Seedig, "Consistent Probabilistic Social Choice", Econometrica 84, 2016;
Dutta and Laslier, "Comparison functions and choice correspondences", Social Choice and Welfare 16,
1999.
"""

from __future__ import annotations

__any_board__ = True

import importlib.util
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from c4env.arrays import Bools, Float64s, Int64s
from c4env.evaluation.errors import InvalidRun
from c4env.evaluation.rating.ratings import TAILS, format_ranks
from c4env.evaluation.rating.tally import Tally
from c4env.evaluation.seeds import seeds
from c4env.evaluation.tables import Table
from c4env.lazy import from_extra

SURE: Final = 0.95
_SIGNS: Final = 2000  # times that the openings' signs are drawn
_AT_ONCE: Final = 20  # of those, in one array
_RESAMPLES: Final = 200  # each may need several linear programs
_NEEDS_SCIPY: Final = "maximal lotteries need scipy"
_TIE: Final = 1e-9  # points a game: nearer results are the same


class Cycle(NamedTuple):
    """Agents each of which beats the next, and the last the first."""

    players: tuple[str, ...]
    confidence: float  # that chance alone gives none as clear, in any pair of the field

    def __str__(self) -> str:
        pairs = zip(self.players, (*self.players[1:], self.players[0]), strict=True)
        return ", ".join(f"{one} beats {other}" for one, other in pairs)


class Place(NamedTuple):
    """Where an agent stands by maximal lotteries."""

    player: str
    probability: float  # in a maximal lottery of the whole field
    place: int  # 1 the best; agents of one essential set share theirs
    places: tuple[int, int]  # 95 % interval
    best: float  # share of the resampled fields in which it comes first


class Standing(NamedTuple):
    """Cycles, and the order by maximal lotteries."""

    cycle: Cycle | None  # the clearest one, beyond chance or not
    places: tuple[Place, ...]  # the best agent first; empty where scipy is not installed
    exact: bool  # the results are all there are, not a sample

    @property
    def cyclic(self) -> bool:
        """The field has a cycle beyond chance."""
        return self.cycle is not None and self.cycle.confidence >= SURE

    def verdict(self) -> str:
        """Whether there is a cycle, in a sentence, and what is missing to say more."""
        missing = "" if self.places else f" {_NEEDS_SCIPY}: pip install 'c4env[lotteries]'."
        if self.cycle is None:
            return f"Cycles: none.{missing}"
        if self.exact:
            return f"Cycles: exact over this set, {self.cycle}.{missing}"
        kind = "beyond chance," if self.cyclic else "none beyond chance; the clearest is"
        return f"Cycles: {kind} {self.cycle} ({self.cycle.confidence:.0%} sure).{missing}"

    def table(self) -> Table:
        """One row an agent, none without scipy, and the verdict below."""
        rows = [
            [p.player, str(p.place), format_ranks(p.places), f"{p.best:.0%}"] for p in self.places
        ]
        heading = [["by maximal lotteries", "place", "95 %", "first"]] if rows else []
        return Table([*heading, *rows], notes=(self.verdict(),))

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        cycle = None if self.cycle is None else self.cycle._asdict()
        return {**self._asdict(), "cycle": cycle, "places": [p._asdict() for p in self.places]}


def standing(tally: Tally, exact: bool = False) -> Standing:
    """Cycles of a field in which everyone met, and its order by maximal lotteries.

    Args:
        tally: of the games.
        exact: the results are all there are, as :attr:`Ratings.exact` says.

    Raises:
        InvalidRun: two of the agents did not meet.
    """
    _, (total,) = _gains(tally, ())
    unmet = np.argwhere((total == 0) & ~np.eye(len(tally.players), dtype=bool))
    if len(unmet):
        one, other = (tally.players[i] for i in unmet[0])
        raise InvalidRun(f"{one} and {other} did not meet: expected games of every pair")
    places: tuple[Place, ...] = ()
    if importlib.util.find_spec("scipy"):
        places = _places(tally, exact)
    return Standing(clearest_cycle(tally, exact), places, exact)


def _places(tally: Tally, exact: bool) -> tuple[Place, ...]:
    players, generator = tally.players, _generator(tally, 0)
    whole = _margins(tally, ())
    lottery, tiers = maximal_lottery(whole)[0], essential_tiers(whole)
    drawn = tiers[None]
    if not exact:
        margins = (_margins(tally, tally.weights(generator, 1)) for _ in range(_RESAMPLES))
        drawn = np.array([essential_tiers(drawn_margins) for drawn_margins in margins])
    ranks = 1 + (drawn[:, None, :] < drawn[:, :, None]).sum(-1)  # [draws, players]
    intervals = np.percentile(ranks, TAILS, axis=0, method="inverted_cdf").astype(int).T.tolist()
    best = (drawn == 0).mean(0)
    order = sorted(range(len(tiers)), key=lambda i: (tiers[i], drawn[:, i].mean(), players[i]))
    return tuple(
        Place(
            players[i], float(lottery[i]), int((tiers < tiers[i]).sum()) + 1,
            (intervals[i][0], intervals[i][1]), float(best[i]),
        )
        for i in order
    )  # fmt: skip


def maximal_lottery(margins: Float64s) -> tuple[Float64s, Bools]:
    """A maximal lottery, and which agents any maximal lottery draws (the essential set).

    Of all optimal strategies the one as far inside as can be: an agent that it does not draw
    loses to it, and so is drawn by none.

    Args:
        margins: ``(players, players)``: what the row gains from the column; antisymmetric.

    Returns:
        Probabilities ``(players,)``, and bool ``(players,)``.

    Raises:
        MissingExtra: scipy is not installed.
    """
    with from_extra("lotteries", _NEEDS_SCIPY):
        from scipy.optimize import linprog
    n = len(margins)
    payoff = margins.T / max(float(np.abs(margins).max()), _TIE)  # [against, of]
    inside = np.column_stack([-(np.eye(n) + payoff), np.ones(n)])
    found = linprog(
        np.append(np.zeros(n), -1),  # the last variable: how far inside
        A_ub=np.vstack([np.column_stack([-payoff, np.zeros(n)]), inside]),
        b_ub=np.zeros(2 * n),
        A_eq=np.append(np.ones(n), 0)[None],
        b_eq=[1],
    )
    lottery = np.asarray(found.x[:n], np.float64)
    return lottery, lottery > payoff @ lottery


def essential_tiers(margins: Float64s) -> Int64s:
    """The tier ``(players,)`` of each agent: 0 the essential set, 1 that of the others, ...

    Args:
        margins: as for :func:`maximal_lottery`.
    """
    tiers = np.zeros(len(margins), np.int64)
    left, tier = np.arange(len(margins)), 0
    while len(left):
        # The agents that reach all others by not losing: usually one, which needs no program.
        reach = margins[np.ix_(left, left)] >= -_TIE
        for _ in range(len(left).bit_length()):
            reach = reach @ reach
        top = left[reach.all(1)]
        if len(top) > 1:
            top = top[maximal_lottery(margins[np.ix_(top, top)])[1]]
        tiers[top] = tier
        left, tier = np.setdiff1d(left, top), tier + 1
    return tiers


def _generator(tally: Tally, use: int) -> np.random.Generator:
    """Randomness keyed by the openings alone: the same for a field and the field with a copy."""
    return np.random.default_rng(seeds(tally.openings, 0, use))


def _gains(tally: Tally, weights: Sequence[Float64s]) -> tuple[Float64s, Float64s]:
    """Gains of the row from the column beyond half of the points, and games ``(draws, n, n)``."""
    points, games = tally.sums(weights)
    return _less(points - games / 2), games + games.swapaxes(1, 2)


def _less(table: Float64s) -> Float64s:
    """What the row has more than the column."""
    return table - table.swapaxes(-1, -2)


def _margins(tally: Tally, weights: Sequence[Float64s]) -> Float64s:
    """Points a game beyond a half ``(n, n)``."""
    (gains,), (games,) = _gains(tally, weights)
    return np.asarray(gains / np.maximum(games, _TIE))


def clearest_cycle(tally: Tally, exact: bool = False) -> Cycle | None:
    """The cycle whose least clear pair is clearest; of several, one of the shortest.

    Args:
        tally: of the games.
        exact: the results are all there are, and so what they say is sure.
    """
    players, (gains,) = tally.players, _gains(tally, ())[0]
    excess = tally.points - tally.games / 2
    if tally.resampled == "openings":
        size = np.sqrt((_less(excess) ** 2).sum(0))
    else:  # each game by itself
        size = np.sqrt((excess**2 + excess.swapaxes(1, 2) ** 2).sum(0))
    clear = gains / np.maximum(size, _TIE)
    for threshold in np.unique(clear[clear > _TIE])[::-1]:
        if found := _shortest_cycle(clear >= threshold):
            break
    else:
        return None
    names = tuple(players[i] for i in found)
    if exact:
        return Cycle(names, 1.0)
    generator, as_clear = _generator(tally, 1), 0
    shape = tally.points.shape if tally.resampled == "games" else (tally.units,)
    for _ in range(_SIGNS // _AT_ONCE):
        signs = generator.choice([-1.0, 1.0], (_AT_ONCE, *shape))
        drawn = _gains(tally, (signs,))[0] / np.maximum(size, _TIE)
        as_clear += int((np.abs(drawn).max((1, 2)) >= threshold - _TIE).sum())
    return Cycle(names, 1 - (1 + as_clear) / (1 + _SIGNS))


def _shortest_cycle(beats: Bools) -> list[int]:
    """Agents along a shortest cycle of a relation, from the first; empty if there is none."""
    cycles = []
    for start in range(len(beats)):
        paths = {start: [start]}  # by the agent at the end; the search is breadth first
        for end in (ends := [start]):
            if beats[end, start]:
                cycles.append(paths[end])
                break
            for beaten in np.flatnonzero(beats[end]).tolist():
                if beaten not in paths:
                    paths[beaten] = [*paths[end], beaten]
                    ends.append(beaten)
    return min(cycles, key=len, default=[])
