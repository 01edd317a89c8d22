"""Elo by a logistic (Bradley-Terry) fit on points, with a first-move term, and how sure it is.

The model: the first player scores ``1 / (1 + 10**(-(r1 - r2 + f) / 400))`` on average.
Ratings maximise the likelihood of all games at once, so their order does not matter. One
virtual draw a pair of agents, half with either colour, keeps an agent that never wins at a
finite rating.

Games from one opening hang together: an opening that costs a point with one colour gives it
back with the other. So the intervals come from resampling openings, never single games, by
the Bayesian bootstrap (Rubin, "The Bayesian Bootstrap", Annals of Statistics 9, 1981): each
opening, with all its games, gets an exponential weight. The two half points of a virtual
draw get gamma weights of the same mean. For two agents and independent games that comes to
Jeffreys' interval for a proportion, which is wide where a plain bootstrap has no width at
all: for an agent that won every game.
"""

from __future__ import annotations

__any_board__ = True

import copy
import functools
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, overload

import numpy as np
from c4env.evaluation.errors import InvalidRun
from c4env.evaluation.plan.openings import enumerate_openings
from c4env.evaluation.seeds import seeds
from c4env.evaluation.store.record import GameRecord
from c4env.evaluation.strength.fit import fit
from c4env.evaluation.tables import Shown, Table, number, signed

from c4env.arrays import Float64s

TAILS: Final = (2.5, 97.5)  # percent: what a 95 % interval leaves out on either side
_DRAWS: Final = 1000
_BLOCK: Final = 1 << 15  # pairs of agents, times draws, that are fitted in one go
_LEAST: Final = 1e-6  # virtual points, below which the fit would be lost in rounding
_ENUMERATED: Final = (1, 4, 25, 121, 568, 2144, 8231)  # openings of 0, 1, 2, ... plies
_TIE: Final = 1e-3  # Elo: nearer strengths are the same


class Interval(NamedTuple):
    """An estimate and its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Rating:
    """An agent's strength, and how sure it is."""

    player: str
    elo: float
    low: float  # 95 % interval of the Elo
    high: float
    ranks: tuple[int, int]  # 95 % interval of the place, 1 the best
    better: float | None  # probability of being stronger than the next in the list, if any
    score: float  # points a game, 0..1
    games: int


@dataclass(frozen=True)
class Ratings(Sequence[Rating]):
    """The ratings of a field, the strongest first: a sequence of :class:`Rating`.

    Attributes:
        players: one rating an agent.
        first_move: what moving first is worth.
        resampled: what the intervals resample: ``"openings"``, or ``"games"`` where there is
            only one opening.
        units: how many of those.
        exact: every agent is deterministic, and all positions after so many plies were played
            by all, so nothing was sampled. ``low`` and ``high`` then tell how much the
            openings differ; they are not an error.
        anchor: the agent whose Elo was set, if any; otherwise the mean of the field is 0.
    """

    players: tuple[Rating, ...]
    first_move: Interval
    resampled: str
    units: int
    exact: bool = False
    anchor: str | None = None

    @overload
    def __getitem__(self, index: int) -> Rating: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Rating, ...]: ...
    def __getitem__(self, index: int | slice) -> Rating | tuple[Rating, ...]:
        return self.players[index]

    def __len__(self) -> int:
        return len(self.players)

    def rows(self) -> list[list[Any]]:
        """Heading and one row an agent: place, name, Elo, its interval, score, games, > next."""
        spread = "spread" if self.exact else "95 %"
        rows: list[list[Any]] = [["place", "agent", "Elo", spread, "score", "games", "> next"]]
        for r in self:
            rows.append([format_ranks(r.ranks), r.player, Shown(r.elo, signed(r.elo))])
            rows[-1] += [f"{signed(r.low)} .. {signed(r.high)}", number(r.score, ".1%")]
            rows[-1] += [r.games, number(r.better, ".1%")]
        return rows

    def table(self, title: str = "", notes: tuple[str, ...] = ()) -> Table:
        """The rows; below, what the numbers mean and rest on, then ``notes``."""
        words = first_move_line(self), self.basis(), *notes
        return Table(self.rows(), title, words, left=(1,))

    def _repr_markdown_(self) -> str:
        return self.table().markdown()

    def basis(self) -> str:
        """Where the intervals come from, in a sentence or two."""
        if self.exact:
            return (
                "Exact over this set: every agent is deterministic and every opening was played, "
                f"so these Elo carry no sampling error. The spread tells how much the {self.units} "
                f"{self.resampled} differ."
            )
        return f"95 % intervals: {self.units} {self.resampled}, resampled {_DRAWS} times."


@dataclass(frozen=True)
class Tally:
    """Points and games of a field, opening by opening: all that ratings need.

    Attributes:
        players: names, sorted, so that nothing depends on the order they come in.
        openings: sorted.
        points: ``(units, players, players)``: of the first player (row) against the second.
            A unit is what the intervals resample: an opening, in the order of ``openings``,
            or a single game where there is but one opening.
        games: how many games those points are from; the same shape.
    """

    players: tuple[str, ...]
    openings: tuple[str, ...]
    points: Float64s
    games: Float64s

    @classmethod
    def of(
        cls, games: Iterable[GameRecord], players: Iterable[str], openings: Iterable[str] = ()
    ) -> Tally:
        """The tally of some games; those of an agent against itself say nothing of it.

        ``openings`` may name some that have no games.
        """
        names = tuple(sorted(set(players)))
        played = [game for game in games if game.players[0] != game.players[1]]
        openings = tuple(sorted({*openings, *(game.opening for game in played)}))
        index = {name: i for i, name in enumerate(names)}
        if len(openings) > 1:
            unit = {opening: i for i, opening in enumerate(openings)}
            units = [unit[game.opening] for game in played]
        else:  # one opening alone cannot be resampled; sorted, since games come in any order
            played.sort(key=lambda game: (game.players, game.moves, str(game.winner)))
            units = list(range(len(played)))
        count = len(openings) if len(openings) > 1 else len(units)
        points = np.zeros((count, len(names), len(names)))
        counts = np.zeros_like(points)
        for i, game in zip(units, played, strict=True):
            cell = i, index[game.players[0]], index[game.players[1]]
            points[cell] += game.points[0]
            counts[cell] += 1
        return cls(names, openings, points, counts)

    @property
    def resampled(self) -> str:
        """What a unit is."""
        return "openings" if len(self.openings) > 1 else "games"

    @property
    def enumerated(self) -> bool:
        """Whether all who met played all positions after so many plies, with both colours."""
        counts = self.games if self.resampled == "openings" else self.games.sum(0, keepdims=True)
        met = counts.sum(0) + counts.sum(0).T > 0
        plies = len(min(self.openings, default="", key=len))
        return (
            bool(met.any(0).all())
            and bool((counts[:, met] > 0).all())
            and plies < len(_ENUMERATED)
            and len(self.openings) == _ENUMERATED[plies]
            and self.openings == _all_openings(plies)
        )

    def generator(self, seed: int) -> np.random.Generator:
        """Randomness keyed by who played where."""
        return np.random.default_rng(seeds((*self.players, "", *self.openings), seed))


def rate(
    tally: Tally,
    deterministic: Collection[str] = (),
    anchor: tuple[str, float] | None = None,
    seed: int = 0,
    centre: Collection[str] = (),
) -> Ratings:
    """Ratings of the players, the strongest first; the same for games in any order.

    Args:
        tally: of the games.
        deterministic: the agents known to answer the same position always alike. When all
            are, and all openings were played by all, the ratings are exact over that set.
        anchor: an agent and the Elo to give it; without, the mean of the field is 0.
        seed: of the resampling.
        centre: those whose mean is 0 instead of all.

    Raises:
        InvalidRun: the anchor is none of the players.
    """
    elo, first_move, drawn, drawn_first_move = strengths(tally, seed)
    if anchor is not None:
        _check_anchor(anchor[0], tally.players)
        centre = [anchor[0]]
    if centre:
        fixed = [tally.players.index(player) for player in centre]
        level = 0 if anchor is None else anchor[1]
        elo = elo - elo[fixed].mean() + level
        drawn = drawn - drawn[:, fixed].mean(1, keepdims=True) + level
    exact = tally.enumerated and set(tally.players) <= set(deterministic)
    points = tally.points.sum((0, 2)) + (tally.games - tally.points).sum((0, 1))
    games = tally.games.sum((0, 1)) + tally.games.sum((0, 2))
    low, high = np.percentile(drawn, TAILS, axis=0)
    best, worst = _ranks(elo[None] if exact else drawn)
    order = sorted(range(len(elo)), key=lambda i: (-elo[i].round(6), tally.players[i]))
    ratings = [
        Rating(
            tally.players[i],
            float(elo[i]),
            float(low[i]),
            float(high[i]),
            (int(best[i]), int(worst[i])),
            None if below is None else _better(elo[None] if exact else drawn, i, below),
            float(points[i] / max(games[i], 1)),
            int(games[i]),
        )
        for i, below in zip(order, [*order[1:], None], strict=True)
    ]
    return Ratings(
        tuple(ratings),
        Interval(first_move, *map(float, np.percentile(drawn_first_move, TAILS))),
        tally.resampled,
        len(tally.points),
        exact,
        None if anchor is None else anchor[0],
    )


def parse_anchor(text: str, players: Sequence[str]) -> tuple[str, float]:
    """Agent and Elo of ``NAME=ELO``; the name itself may hold ``=``.

    Raises:
        InvalidRun: not of that form, or the name is none of the players.
    """
    name, equals, elo = text.rpartition("=")
    try:
        value = float(elo)
    except ValueError:
        value = np.nan
    if not equals or not name or not np.isfinite(value):
        raise InvalidRun(f"anchor {text!r}: expected NAME=ELO, such as random=0")
    _check_anchor(name, players)
    return name, value


def _check_anchor(name: str, players: Sequence[str]) -> None:
    if name not in players:
        raise InvalidRun(f"anchor {name!r} is none of the agents: {', '.join(players)}")


def first_move_line(ratings: Ratings) -> str:
    """What the first move is worth, and what the numbers of the table mean."""
    first = ratings.first_move
    zero = "mean 0" if ratings.anchor is None else f"{ratings.anchor} fixed"
    return (
        f"Moving first: {signed(first.value)} Elo ({signed(first.low)} .. {signed(first.high)}). "
        f"Elo: {zero}; > next: probability of being stronger than the next."
    )


def format_ranks(ranks: tuple[int, int]) -> str:
    """A place or a range of places."""
    best, worst = ranks
    return str(best) if best == worst else f"{best}-{worst}"


def strengths(
    tally: Tally, seed: int = 0, apart: bool = False
) -> tuple[Float64s, float, Float64s, Float64s]:
    """Elo ``(players,)`` and of the first move, then both as resampled ``(draws, ...)``.

    Two tallies of the same players and openings get the same weights of openings. With ``apart``
    the virtual draws of one of them are independent of those of the other.
    """
    n = len(tally.players)
    virtual = 0.25 * ~np.eye(n, dtype=bool)  # half a point a pair, half of it with either colour
    start = fit(tally.points.sum(0) + virtual, tally.games.sum(0) + 2 * virtual)
    generator = tally.generator(seed)
    weights = opening_weights(len(tally.points), generator)
    generator = generator.spawn(1)[0] if apart else generator
    one, other = np.triu_indices(n, 1)
    drawn, drawn_first_move = np.empty((_DRAWS, n)), np.empty(_DRAWS)
    blocks = np.array_split(np.arange(_DRAWS), max(1, _DRAWS * n * n // _BLOCK))
    # Both halves of the virtual draws come from one stream, one after the other.
    second = copy.deepcopy(generator)
    for block in blocks:
        second.standard_gamma(0.5, (len(block), len(one)))
    by_colour = second.spawn(1)[0]
    for block in blocks:
        gained = np.zeros((len(block), n, n))
        gained[:, one, other] = generator.standard_gamma(0.5, (len(block), len(one))) / 2
        gained[:, other, one] = second.standard_gamma(0.5, (len(block), len(one))) / 2
        points = np.tensordot(weights[block], tally.points, 1)
        games = np.tensordot(weights[block], tally.games, 1)
        found = fit(points + gained, games + gained + gained.swapaxes(1, 2), start)
        drawn[block] = found[0]
        # Alike with both colours, virtual draws would say that moving first is worth nothing:
        # for its interval each agent's half point is split between the colours at random.
        share = by_colour.beta(0.25, 0.25, gained.shape)
        first, last = (
            np.maximum(2 * gained * part, _LEAST * (gained > 0)) for part in (share, 1 - share)
        )
        found = fit(points + first, games + first + last.swapaxes(1, 2), found)
        drawn_first_move[block] = found[1]
    return start[0], float(start[1]), drawn, drawn_first_move


def scores(tallies: Sequence[Tally], player: str) -> tuple[list[float], list[Float64s]]:
    """Points a game of a player in each tally, 0..1, and as resampled ``(draws,)``.

    The tallies are of the same players and openings, which get the same weights in all.
    """
    i = tallies[0].players.index(player)
    generator = tallies[0].generator(0)
    weights = opening_weights(len(tallies[0].points), generator)
    found: tuple[list[float], list[Float64s]] = ([], [])
    for tally in tallies:
        gained = tally.points[:, i].sum(-1) + (tally.games - tally.points)[:, :, i].sum(-1)
        played = tally.games[:, i].sum(-1) + tally.games[:, :, i].sum(-1)
        won, lost = generator.standard_gamma(0.5, (2, _DRAWS))
        found[0].append(float(gained.sum() / max(played.sum(), 1)))
        found[1].append((weights @ gained + won) / (weights @ played + won + lost))
    return found


def opening_weights(units: int, generator: np.random.Generator) -> Float64s:
    """Random weights ``(draws, units)`` of mean 1.

    Exponential for many units. For few their variance is larger: that corrects for a variance
    estimated from few units (``n - 1`` for ``n + 1``) and for the wider tails of Student's t.
    Found right by simulation (``c4 experiment statistics``).
    """
    shape = max(units - 4, 1) / max(units, 1)
    return generator.standard_gamma(shape, (_DRAWS, units)) / shape


def _ranks(elo: Float64s) -> tuple[Float64s, Float64s]:
    """Best and worst place of each player in the middle 95 % of the draws ``(draws, players)``."""
    players = range(elo.shape[1])
    above = np.stack([(elo > elo[:, [i]] + _TIE).sum(1) for i in players], 1)
    below = np.stack([(elo < elo[:, [i]] - _TIE).sum(1) for i in players], 1)
    best = np.percentile(above + 1, TAILS[0], axis=0, method="inverted_cdf")
    worst = np.percentile(elo.shape[1] - below, TAILS[1], axis=0, method="inverted_cdf")
    return best, worst


def _better(elo: Float64s, one: int, other: int) -> float:
    """Share of the draws in which one is stronger; half of those in which they are alike."""
    ahead = elo[:, one] - elo[:, other]
    return float((ahead > _TIE).mean() + (np.abs(ahead) <= _TIE).mean() / 2)


@functools.cache
def _all_openings(plies: int) -> tuple[str, ...]:
    return tuple(sorted(enumerate_openings(plies)))
