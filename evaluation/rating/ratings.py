"""Elo and the first-move advantage by a logistic (Bradley-Terry) fit, with intervals.

The model: an agent rated r1 scores ``1 / (1 + 10**(-(r1 - r2) / 400))`` of the points against an
agent rated r2, with equally many games of each colour. A second fit adds the first-move advantage
``f`` to the first player's rating. Ratings maximise the likelihood of all games together, so the
order of the games does not matter. Virtual draws keep ratings finite, even of an agent that never
wins. A field of N agents gets N - 1 pairs of virtual draws (Jeffreys' prior). These draws are
divided among the pairs of agents in proportion to the pairs' leverages (:func:`leverages`).

Games from one opening are correlated: an opening that costs an agent a point with one colour gains
a point with the other colour. Therefore the intervals come from resampling whole openings by the
Bayesian bootstrap (Rubin, "The Bayesian Bootstrap", Annals of Statistics 9, 1981). Each opening
gets an exponential weight, and virtual points are drawn from gamma distributions. For two agents
and independent games, the result is Jeffreys' interval for a proportion. This interval stays wide
even if an agent wins all games; the interval of a plain bootstrap would then have no width.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple, overload

import numpy as np

from c4env.arrays import Float64s, Int64s
from c4env.evaluation.errors import InvalidRun
from c4env.evaluation.rating.fit import fit
from c4env.evaluation.tables import Shown, Table, number, plural, rounded, signed

from .costs import Cost
from .tally import Tally, all_openings

TAILS: Final = (2.5, 97.5)  # the percentiles at the ends of a 95 % interval
_DRAWS: Final = 1000
_BLOCK: Final = 1 << 15  # pairs of agents, times draws, to fit at the same time
_LEAST: Final = 1e-6  # the least virtual points, to keep the fit from rounding errors
_TIE: Final = 1e-3  # Elo; strengths with a smaller difference are equal
SURE: Final = 1 - TAILS[0] / 100
"""From this probability of being stronger, the 95 % interval of a difference excludes 0."""
_ENOUGH: Final = 25  # openings, from which a run gets no note to play more
_STUDENT: Final = {1: 1.5, 2: 9.2, 3: 2.2, 4: 1.9}
"""Factors by number of openings that widen the first-move interval to Student's t, because the
weights cannot. Intervals of Elo need no factors, because virtual points widen them enough."""
_UNKNOWN: Final = 2000.0  # half width, in Elo, of an interval without information


class Interval(NamedTuple):
    """An estimate and its 95 % interval."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, value: float, drawn: Float64s) -> Interval:
        """Return ``value`` with the middle 95 % of the draws, widened to include ``value``."""
        low, high = map(float, np.percentile(drawn, TAILS))
        return cls(float(value), min(low, float(value)), max(high, float(value)))


@dataclass(frozen=True, slots=True)
class Rating:
    """An agent's Elo, place and score, with intervals."""

    player: str
    elo: float
    low: float  # 95 % interval of the Elo
    high: float
    ranks: tuple[int, int]  # 95 % interval of the place; 1 is the best
    better: float | None  # probability of being stronger than the next agent, if there is one
    score: float  # points per game, 0..1
    games: int
    nodes: float | None = field(default=None, compare=False)  # a move
    seconds: float | None = field(default=None, compare=False)  # a move, in the median game


@dataclass(frozen=True)
class Ratings(Sequence[Rating]):
    """The ratings of a field, a sequence of :class:`Rating` with the strongest agent first.

    Attributes:
        players: a rating for each agent.
        first_move: the advantage of moving first, in Elo.
        resampled: the unit that the intervals resample: ``"openings"``, or ``"pairs"`` of games
            if there is only one opening.
        units: number of openings or pairs that the intervals resample.
        exact: whether every agent is deterministic and played all openings of one length. Then
            no result is sampled, and ``low`` and ``high`` show how much the openings differ.
        anchor: the agent with a fixed Elo; without an anchor, the mean of the field is 0.
        rival: the agent most likely to be as strong as the first agent, and the probability that
            the first agent is stronger.
        centred: whether Elo 0 is the mean of chosen agents instead of the mean of all agents.
    """

    players: tuple[Rating, ...]
    first_move: Interval
    resampled: str
    units: int
    exact: bool = False
    anchor: str | None = None
    rival: tuple[str, float] | None = None
    centred: bool = False

    @overload
    def __getitem__(self, index: int) -> Rating: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Rating, ...]: ...
    def __getitem__(self, index: int | slice) -> Rating | tuple[Rating, ...]:
        return self.players[index]

    def __len__(self) -> int:
        return len(self.players)

    def renamed(self, names: Mapping[str, str]) -> Ratings:
        """Return the ratings with other names for the agents."""
        players = tuple(replace(r, player=names[r.player]) for r in self)
        rival = self.rival and (names[self.rival[0]], self.rival[1])
        anchor = self.anchor and names[self.anchor]
        return replace(self, players=players, rival=rival, anchor=anchor)

    def with_costs(self, spent: Mapping[str, Cost]) -> Ratings:
        """Return the ratings with each agent's nodes and seconds per move."""
        costs = ((r, spent.get(r.player, Cost())) for r in self)
        players = (replace(r, nodes=c.nodes_a_move, seconds=c.seconds_a_move) for r, c in costs)
        return replace(self, players=tuple(players))

    def rows(self) -> list[list[Any]]:
        """Return the table of ratings as a heading and a row for each agent."""
        costly = any(r.nodes is not None for r in self)
        spread = "spread" if self.exact else "95 %"
        rows: list[list[Any]] = [["place", "agent", "Elo", spread, "score", "games"]]
        rows[0] += [*(["nodes", "ms"] if costly else []), "> next"]
        for r in self:
            rows.append([format_ranks(r.ranks), r.player, Shown(r.elo, signed(r.elo))])
            rows[-1] += [f"{signed(r.low)} .. {signed(r.high)}", number(r.score, ".1%"), r.games]
            rows[-1] += [number(r.nodes, ",.0f"), milliseconds(r.seconds)] if costly else []
            rows[-1].append(number(r.better, ".1%"))
        return rows

    def table(self, title: str = "", notes: tuple[str, ...] = ()) -> Table:
        """The ratings as a table with explanations below it, followed by ``notes``."""
        return Table(self.rows(), title, (*self.words(), *notes), left=(1,))

    def words(self) -> list[str]:
        """Return notes on the first-move advantage, the columns, the intervals and few openings."""
        return [reading(self, self.rows()[0]), self.basis(), *self.caution()]

    def _repr_markdown_(self) -> str:
        return self.table().markdown()

    @property
    def zero(self) -> str:
        """What the Elo of the agents is relative to."""
        if self.anchor is not None:
            return f"{self.anchor} fixed"
        return "the mean of the field" if self.centred else "the mean of these agents"

    def basis(self) -> str:
        """A note on the method of the intervals."""
        if self.exact:
            units = "openings" if self.resampled == "openings" else "pairs of games"
            told = f"tells how much the {self.units} {units} differ"
            return (
                "Exact over this set: every agent is deterministic and every opening was played, "
                "so these Elo carry no sampling error. The spread "
                f"{told if self.units > 1 else 'tells little: 1 pair of games has none'}."
            )
        if self.resampled == "openings":
            return f"95 % intervals: {self.units} openings, resampled {_DRAWS} times."
        units = f"{plural(self.units, 'pair')} of games"
        return f"95 % intervals: {units}, resampled {_DRAWS} times, and of this one opening alone."

    def caution(self) -> tuple[str, ...]:
        """Return a note if there are too few openings to tell agents apart, else ()."""
        told = all(r.better is None or r.better >= SURE for r in self)
        openings = self.units if self.resampled == "openings" else 1
        if self.exact or told or not self.units or self.centred:
            return ()
        whom = "the two" if len(self) == 2 else "all of these agents"
        few = few_openings(openings, f"to tell {whom} apart")
        return (few,) if few else ()


def few_openings(openings: int, what: str) -> str:
    """Return a warning that there are too few openings for ``what``; "" if there are enough."""
    if openings >= _ENOUGH:
        return ""
    few = "1 opening is" if openings == 1 else f"{openings} openings are"
    would = more_openings(_ENOUGH)
    return f"{few} too few {what}{would and f'; {would}'}."


def more_openings(least: int) -> str:
    """Return advice on the option ``--openings`` that plays ``least`` openings or more, or ""."""
    found = ((plies, len(all_openings(plies))) for plies in range(1, 6))
    return next((f"--openings {p} plays {count}" for p, count in found if count >= least), "")


def rate(
    tally: Tally,
    deterministic: Collection[str] = (),
    anchor: tuple[str, float] | None = None,
    seed: int = 0,
    centre: Collection[str] = (),
) -> Ratings:
    """Rate the players; the order of the games does not matter.

    Args:
        tally: points and games.
        deterministic: agents that always give the same answer in the same position. Ratings are
            exact if all agents are deterministic and played every opening of one length.
        anchor: an agent and its fixed Elo; without an anchor, the mean of the field is 0.
        seed: seed of the bootstrap.
        centre: agents whose mean Elo is 0; empty means all agents.

    Returns:
        the ratings, the strongest first.

    Raises:
        InvalidRun: the anchor is not one of the players.
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
    points, games = tally.sums()
    score, played = _shares(points, games)[0], (games.sum(1) + games.sum(2))[0]
    low, high = np.percentile(drawn, TAILS, axis=0)
    if exact:
        drawn = elo[None]
    best, worst = _ranks(drawn)
    order = sorted(range(len(elo)), key=lambda i: (-elo[i].round(6), tally.players[i]))
    ratings = [
        Rating(
            tally.players[i],
            float(elo[i]),
            float(low[i]),
            float(high[i]),
            (int(best[i]), int(worst[i])),
            None if below is None else _better(drawn, i, below),
            float(score[i]),
            int(played[i]),
        )
        for i, below in zip(order, [*order[1:], None], strict=True)
    ]
    ahead = [(_better(drawn, order[0], i), tally.players[i]) for i in order[1:]]
    return Ratings(
        tuple(ratings),
        Interval.of(first_move, drawn_first_move),
        tally.resampled,
        tally.units,
        exact,
        None if anchor is None else anchor[0],
        min(((p, sure) for sure, p in ahead), key=lambda rival: rival[1], default=None),
        anchor is None and bool(centre),
    )


def parse_anchor(text: str, players: Sequence[str]) -> tuple[str, float]:
    """Parse ``NAME=ELO``; the name itself may contain ``=``.

    Raises:
        InvalidRun: the text is malformed, or the name is not one of the players.
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
        raise InvalidRun(f"anchor {name!r}: expected one of {', '.join(players)}")


def reading(ratings: Ratings, heading: Sequence[str]) -> str:
    """Return a note on the first-move advantage, and on the columns of a table with ``heading``."""
    first = ratings.first_move
    notes = [f"Elo 0: {ratings.zero}" if ratings.anchor is None else f"Elo: {ratings.zero}"]
    if costs := [name for name in ("nodes", "ms") if name in heading]:
        notes.append(f"{', '.join(costs)}: a move")
    if "> next" in heading:
        notes.append("> next: probability of being stronger than the next")
    return (
        f"Moving first: {signed(first.value)} Elo ({signed(first.low)} .. {signed(first.high)}). "
        f"{'; '.join(notes)}."
    )


def milliseconds(seconds: float | None) -> Shown | None:
    """Make a cell of a time, in milliseconds."""
    if seconds is None:
        return None
    return Shown(1e3 * seconds, rounded(1e3 * seconds, ",.0f" if seconds >= 0.01 else ".2g"))


def format_ranks(ranks: tuple[int, int]) -> str:
    """Format a place, such as ``3``, or a range of places, such as ``1-4``."""
    best, worst = ranks
    return str(best) if best == worst else f"{best}-{worst}"


def strengths(tally: Tally, seed: int = 0) -> tuple[Float64s, float, Float64s, Float64s]:
    """Fit the Elo and the first-move advantage to the games, and to resampled games.

    Virtual games keep Elo finite. Calls with the same seed, players and openings use the same
    random weights of openings and the same virtual games.

    Returns:
        the Elo ``[players]``, the first-move advantage, and samples of both, ``[draws, players]``
        and ``[draws]``.
    """
    n = len(tally.players)
    (points,), (games,) = tally.sums()
    unit, shares = tally.games_of_a_pair, leverages(games + games.T)
    virtual = unit * shares / 4  # points with one colour
    start = fit(*_alike(points + virtual, games + 2 * virtual))
    first_move = float(fit(points + virtual, games + 2 * virtual, start)[1])
    generator = tally.generator(seed)
    ours, theirs = generator.spawn(2)
    drawn, drawn_first_move = np.empty((_DRAWS, n)), np.empty(_DRAWS)
    for block in _blocks(n):
        points, games = tally.sums(tally.weights(generator, len(block)))
        # The virtual points of the row against the column, moving first and second.
        first, second = (
            unit * np.maximum(g.standard_gamma(shares / 4, (len(block), n, n)), _LEAST * shares)
            for g in (ours, theirs)
        )
        alike = (first + second) / 2
        found = fit(*_alike(points + alike, games + alike + alike.swapaxes(1, 2)), start)
        drawn[block] = found[0]
        # Equal virtual draws for both colours would pull the first-move advantage to 0. So for
        # its interval, chance splits each agent's virtual points between the colours.
        found = fit(points + first, games + first + second.swapaxes(1, 2), found)
        drawn_first_move[block] = found[1]
    if wider := _STUDENT.get(len(tally.openings)):
        away = wider * (drawn_first_move - first_move)
        drawn_first_move = np.clip(first_move + away, -_UNKNOWN, _UNKNOWN)
    return start[0], first_move, drawn, drawn_first_move


def _alike(points: Float64s, games: Float64s) -> tuple[Float64s, Float64s]:
    """Rescale points and games so that each pair has equally many games with each colour.

    The Elo fit uses the rescaled games, so that Elo predicts an agent's share of all points, even
    if moving first decides most of the games.
    """
    turned = games.swapaxes(-1, -2)
    both = (games > 0) & (turned > 0)
    scale = np.where(both, (games + turned) / (2 * np.where(both, games, 1)), 1.0) / 2
    won = points * scale + ((games - points) * scale).swapaxes(-1, -2)
    return won, won + won.swapaxes(-1, -2)


def leverages(games: Float64s) -> Float64s:
    """Return each pair's leverage, 0..1: how much the pair's games determine its Elo difference.

    The leverages of n agents sum to n - 1. If all pairs have equally many games, each leverage is
    2/n. If a pair's games are the only connection of two parts of a field, its leverage is 1.

    Args:
        games: number of games of each pair, ``[players, players]``, symmetric.
    """
    n = len(games)
    joined = games + _LEAST * max(games.max(initial=0), 1) * ~np.eye(n, dtype=bool)
    inverse = np.linalg.inv(np.diag(joined.sum(0)) - joined + 1 / n)
    own = np.diag(inverse)
    return np.asarray(joined * (own[:, None] + own - 2 * inverse))


def scores(tallies: Sequence[Tally]) -> list[tuple[Float64s, Float64s]]:
    """Compute points per game in each tally, ``[players]``, and samples, ``[draws, players]``.

    The tallies have the same players and openings, and share the bootstrap weights. In the samples,
    each player also gets virtual games: on average as many as a pair plays from one opening.
    """
    generator = tallies[0].generator(0)
    virtual = generator.spawn(1)[0]
    n = len(tallies[0].players)
    found = [(_shares(*tally.sums())[0], np.empty((_DRAWS, n))) for tally in tallies]
    for block in _blocks(n):
        weights = tallies[0].weights(generator, len(block))
        for tally, (_, drawn) in zip(tallies, found, strict=True):
            won, lost = tally.games_of_a_pair * virtual.standard_gamma(0.5, (2, len(block), n))
            drawn[block] = _shares(*tally.sums(weights), won, won + lost)
    return found


def _shares(
    points: Float64s, games: Float64s, won: Float64s | float = 0, more: Float64s | float = 0
) -> Float64s:
    """Return points per game ``[draws, players]``, with ``won`` points in ``more`` games added."""
    gained = points.sum(2) + (games - points).sum(1) + won
    return np.asarray(gained / np.maximum(games.sum(1) + games.sum(2) + more, _LEAST))


def _blocks(players: int) -> list[Int64s]:
    """Return the indices of the bootstrap draws, in blocks that fit into the processor's cache."""
    count = -(-_DRAWS * players * players // _BLOCK)
    return np.array_split(np.arange(_DRAWS), min(_DRAWS, count))


def _ranks(elo: Float64s) -> tuple[Float64s, Float64s]:
    """Return the ends of each player's 95 % interval of ranks, from draws ``[draws, players]``."""
    players = range(elo.shape[1])
    above = np.stack([(elo > elo[:, [i]] + _TIE).sum(1) for i in players], 1)
    below = np.stack([(elo < elo[:, [i]] - _TIE).sum(1) for i in players], 1)
    best = np.percentile(above + 1, TAILS[0], axis=0, method="inverted_cdf")
    worst = np.percentile(elo.shape[1] - below, TAILS[1], axis=0, method="inverted_cdf")
    return best, worst


def _better(elo: Float64s, one: int, other: int) -> float:
    """Return the share of bootstrap draws in which ``one`` has the higher Elo; ties count half."""
    ahead = elo[:, one] - elo[:, other]
    return float((ahead > _TIE).mean() + (np.abs(ahead) <= _TIE).mean() / 2)
