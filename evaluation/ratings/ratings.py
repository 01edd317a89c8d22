"""Elo and the first-move advantage, with intervals of which any two can be compared.

Ratings are the penalised fit of :mod:`c4env.evaluation.ratings.fit` to all games together, so the
order of the games does not matter. The unit of the penalty is a pair of games from one opening with
swapped colours. Intervals come from bootstrap samples (:mod:`c4env.evaluation.ratings.samples`).

The interval of an agent consists of two quasi standard errors, below and above its Elo (Firth and
de Menezes, "Quasi-variances", Biometrika 91, 2004): they are chosen so that the intervals of two
agents give the interval of their difference (:meth:`Ratings.difference`). The errors do not depend
on where Elo 0 is, so an agent that never scores does not widen the intervals of the others. The
difference of agents that play nearly identical games (:meth:`Tally.alike`) does not count, so they
do not narrow each other's interval.

An interval of 95 % is for two agents that were chosen before the games. Whoever picks the best of
many and compares it with all others looks at every difference at once: then the half widths grow
by :attr:`Ratings.together`, so that in 95 % of runs none of the differences lies outside.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple, overload

import numpy as np

from c4env.arrays import Float64s
from c4env.errors import InvalidOption, suggest
from c4env.evaluation.ratings.circles import Circles, circles
from c4env.evaluation.ratings.fit import Interval
from c4env.evaluation.ratings.samples import (
    chance_better,
    common_factor,
    quasi_errors,
    rank_ends,
    strengths,
)
from c4env.evaluation.ratings.tally import Cost, Tally, costs
from c4env.evaluation.records.game import GameRecord
from c4env.evaluation.tables import Column, Table, plural, signed

FIRST: Final = "First player's advantage (owner of the first disc, even in an opening)"
"""What "moving first" means everywhere: in tables, ratings, records and on the page."""
_ENOUGH: Final = 25  # openings; a run with fewer gets a warning
_WIDEST: Final = 2000.0  # half width, in Elo, of an interval without information


def milliseconds(value: float) -> str:
    """Format milliseconds: two digits below 10, whole ones from there on."""
    return format(value, ",.0f" if value >= 10 else ".2g")


RATING_COLUMNS: Final = (
    Column("rank", of=lambda r: r.ranks),
    Column("agent", of=lambda r: r.player),
    Column("Elo", signed, lambda r: Interval(r.elo, r.low, r.high)),
    Column("score", ".1%"),
    Column("games"),
    Column("reliable", ".1%"),
    Column("Elo_reliable", signed, lambda r: r.finished),
    Column("LOS", ".0%", lambda r: r.better),
    Column("nodes", ",.0f"),
    Column("ms", milliseconds),
    Column("asked_again"),
)
"""The columns of standings; LOS is the likelihood of superiority over the next agent.

``reliable`` is the share of games that the agent did not forfeit, ``Elo_reliable`` the Elo over the
games that nobody forfeited. ``asked_again`` counts answers of a language model that were not a
legal move, so that it was asked again. A column without any value is left out.
"""


class Ranks(NamedTuple):
    """A range of ranks; 1 is the best."""

    best: int
    worst: int

    def __str__(self) -> str:
        return str(self.best) if self.best == self.worst else f"{self.best}-{self.worst}"


@dataclass(frozen=True, slots=True)
class Rating:
    """An agent's Elo, place and score, with intervals."""

    player: str
    elo: float
    low: float  #: 95 % interval, for comparisons of agents
    high: float
    ranks: Ranks | None  #: 95 % interval of the place in the agent's group; None in exact runs
    better: float | None  #: probability of being stronger than the next agent, if any
    score: float  #: points per game, 0..1
    games: int
    nodes: float | None = field(default=None, compare=False)  #: per move
    seconds: float | None = field(default=None, compare=False)  #: per move, in the median game
    reliable: float | None = None  #: share of games not forfeited, 0..1; None in a run without
    finished: Interval | None = None  #: Elo over the games that nobody forfeited, if it forfeited
    asked_again: int | None = None  #: times that a language model was asked again, if any was

    @property
    def ms(self) -> float | None:
        """The milliseconds per move."""
        return None if self.seconds is None else 1e3 * self.seconds


@dataclass(frozen=True)
class Ratings(Sequence[Rating]):
    """The ratings of a field, a sequence of :class:`Rating` with the strongest agent first.

    Attributes:
        players: a rating for each agent, one connected group after the other.
        first_move: the advantage of moving first, in Elo.
        resampled: the unit that the intervals resample: ``"openings"``, or ``"pairs"`` of games
            if there is only one opening.
        units: number of openings or pairs that the intervals resample.
        exact: whether every agent is deterministic and played all openings of one length. Then
            the order over these openings is not sampled, so ranks and LOS are omitted.
            ``low`` and ``high`` are for other openings, of which these are a sample.
        anchor: the agent with a fixed Elo; without an anchor, the mean of a group is 0.
        centred: whether Elo 0 is the mean of chosen agents instead of the mean of all agents.
        group_sizes: number of agents in each group; no game connects two groups, so their Elo
            and places cannot be compared.
        together: the factor on the half width of a difference with which the intervals of all
            differences hold at once in 95 % of runs; 1 for two agents.
        find_circles: finds :attr:`circles`, in a sixth of the time of all the ratings.
    """

    players: tuple[Rating, ...]
    first_move: Interval
    resampled: str
    units: int
    exact: bool = False
    anchor: str | None = None
    centred: bool = False
    group_sizes: tuple[int, ...] = ()
    together: float = 1.0
    find_circles: Callable[[], Circles] = field(default=Circles, compare=False, repr=False)

    @functools.cached_property
    def circles(self) -> Circles:
        """The agents that beat each other in a circle, which no Elo can show."""
        return self.find_circles()

    @overload
    def __getitem__(self, index: int) -> Rating: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Rating, ...]: ...
    def __getitem__(self, index: int | slice) -> Rating | tuple[Rating, ...]:
        return self.players[index]

    def __len__(self) -> int:
        return len(self.players)

    @property
    def groups(self) -> list[tuple[Rating, ...]]:
        """The connected groups of agents, the largest first."""
        ratings = iter(self)
        return [tuple(itertools.islice(ratings, n)) for n in self.group_sizes or (len(self),)]

    def difference(self, one: str, other: str, *, together: bool = False) -> Interval:
        """Return the Elo difference, with a 95 % interval combined from both agents' intervals.

        With ``together``, the intervals of all differences hold at once in 95 % of runs. Without
        it, each does: enough for two agents that were chosen before the games.

        An end is the root of the sum of the squares of two distances: from one agent's Elo to
        its end, and from the other agent's Elo to its opposite end (MOVER: Zou and Donner,
        Statistics in Medicine 27, 2008). The interval of agents of two groups excludes nothing.

        Raises:
            InvalidOption: no rating has one of the names.
        """
        a, b = self._of(one), self._of(other)
        if not any(a in group and b in group for group in self.groups):
            return Interval(0.0, -_WIDEST, _WIDEST)
        value = a.elo - b.elo
        factor = self.together if together else 1.0
        below = factor * math.hypot(a.elo - a.low, b.high - b.elo)
        above = factor * math.hypot(a.high - a.elo, b.elo - b.low)
        return Interval(value, value - below, value + above)

    def rivals(self) -> tuple[str, ...]:
        """The agents of the first group that may be as strong as its best agent.

        The comparisons hold at once: of equally strong agents, all are named in 95 % of runs.
        """
        best, *others = (r.player for r in self.groups[0])
        return tuple(r for r in others if self.difference(best, r, together=True).low <= 0)

    def _of(self, player: str) -> Rating:
        for rating in self:
            if rating.player == player:
                return rating
        names = [rating.player for rating in self]
        hint = suggest(str(player), names, f": expected one of {', '.join(names)}")
        raise InvalidOption(f"no agent {player!r}{hint}")

    def superiority(self, one: str, other: str) -> float | None:
        """The probability that one of two neighbours in the ratings is stronger than the other.

        The probability is None in exact runs, because their openings are not a sample.
        """
        first = next(r for r in self if r in (self._of(one), self._of(other)))
        if self.exact:
            return None
        better = 0.5 if first.better is None else first.better
        return better if first.player == one else 1 - better

    def with_games(self, games: Sequence[GameRecord]) -> Ratings:
        """Return the ratings with what games tell beside their points: costs, forfeits, retries.

        A forfeit counts as a loss, so one Elo says how strong and how reliable an agent is. An
        agent that forfeited has a second Elo, ``finished``, over the games that nobody forfeited.
        In both Elos, the mean of the agents that never forfeited is the same.
        """
        spent = costs(games)
        repeated = any(cost.asked_again for cost in spent.values())
        played = [game for game in games if game.players[0] != game.players[1]]
        lost = Counter(g.players[g.forfeited_by] for g in played if g.forfeited_by is not None)
        finished = {}
        if lost:
            kept = Tally.of((g for g in played if g.forfeited_by is None), [r.player for r in self])
            finished = self._elo_by(rate(kept), lost)
        players = []
        for rating in self:
            cost, name = spent.get(rating.player, Cost()), rating.player
            more = replace(rating, nodes=cost.nodes_a_move, seconds=cost.seconds_a_move)
            if repeated:
                more = replace(more, asked_again=cost.asked_again)
            if lost and rating.games:
                share = 1 - lost[name] / rating.games
                more = replace(more, reliable=share, finished=finished.get(name))
            players.append(more)
        return replace(self, players=tuple(players))

    def _elo_by(self, others: Ratings, chosen: Collection[str]) -> dict[str, Interval]:
        """Return the Elo of chosen agents by other ratings, with the zero of these ratings."""
        here, found = {r.player: r.elo for r in self}, {}
        for group in others.groups:
            if len(group) > 1:
                fixed = [r for r in group if r.player not in chosen] or group
                shift = sum(here[r.player] - r.elo for r in fixed) / len(fixed)
                for r in group:
                    if r.player in chosen:
                        found[r.player] = Interval(r.elo + shift, r.low + shift, r.high + shift)
        return found

    def table(self, title: str = "", notes: tuple[str, ...] = ()) -> Table:
        """The ratings as a table with a line and the warnings below it, followed by ``notes``."""
        columns = [c for c in RATING_COLUMNS if any(c.value(r) is not None for r in self)]
        return Table(columns, self, title, (self.line(), *self.zero(), *self.warnings(), *notes))

    def frame(self) -> Any:
        """The table as a ``pandas.DataFrame``."""
        return self.table().frame()

    def line(self) -> str:
        """The first player's advantage, and the method of the intervals."""
        value, low, high = map(signed, self.first_move)
        return f"{FIRST}: {value} Elo ({low} .. {high}). {self.method_note()}"

    def zero(self) -> tuple[str, ...]:
        """A note on what the Elo is relative to, unless to the mean of the agents."""
        if self.anchor is not None:
            return (f"Elo of {self.anchor} fixed.",)
        return ("Elo 0: the mean of the field.",) if self.centred else ()

    def _repr_markdown_(self) -> str:
        return self.table().markdown()

    def method_note(self) -> str:
        """A note on the method of the intervals."""
        if self.resampled == "openings":
            units = plural(self.units, "opening")
        else:
            units = f"{plural(self.units, 'pair')} of games"
        exact = "every agent is deterministic and every opening was played. " if self.exact else ""
        source = "" if self.resampled == "openings" else " from this one opening"
        return f"{exact and 'Exact over this set: '}{exact}95 % intervals over {units}{source}."

    def warnings(self) -> tuple[str, ...]:
        """Return sentences on groups that never met, on too few openings, and on circles."""
        warnings = []
        groups = self.groups
        if len(groups) > 1:
            names = "; ".join(", ".join(r.player for r in group) for group in groups)
            warnings.append(
                f"No game connects these groups, so Elo and places hold in each: {names}."
            )
        neighbours = (pair for group in groups for pair in itertools.pairwise(group))
        distinct = all(self.difference(a.player, b.player).low > 0 for a, b in neighbours)
        openings = self.units if self.resampled == "openings" else 1
        if not (distinct or self.centred or openings >= _ENOUGH) and self.units:
            few = "1 opening is" if openings == 1 else f"{openings} openings are"
            agents = "the two" if len(self) == 2 else "all of these agents"
            warnings.append(f"{few} too few to tell {agents} apart.")
        if self.circles.found:
            warnings.append(self.circles.sentence())
        return tuple(warnings)


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
        anchor: an agent and its fixed Elo; without an anchor, the mean of the field is 0. The
            intervals do not depend on it.
        seed: seed of the bootstrap.
        centre: agents whose mean Elo is 0; empty means all agents.

    Returns:
        the ratings, the strongest first.

    Raises:
        InvalidOption: the anchor is not one of the players.
    """
    if anchor is not None:
        _check_anchor(anchor, tally.players)
    elo, first_move, samples, first_move_samples = strengths(tally, seed)
    exact = tally.enumerated and set(tally.players) <= set(deterministic)
    points, games = (sums[0] for sums in tally.sums())
    played = games.sum(0) + games.sum(1)
    score = (points.sum(1) + (games - points).sum(0)) / np.maximum(played, 1)
    alike = tally.alike()
    groups = sorted(tally.groups, key=lambda group: (-len(group), group))
    ratings: list[Rating] = []
    together = 1.0
    for group in groups:
        names = [tally.players[i] for i in group]
        drawn = samples[:, group]
        below, above = quasi_errors(elo[group], drawn, alike[np.ix_(group, group)])
        together = max(together, common_factor(elo[group], drawn, below, above))
        values = _shifted(elo[group], names, anchor, centre)
        best, worst = rank_ends(drawn)
        order = sorted(range(len(group)), key=lambda i: (-values[i].round(6), names[i]))
        ratings += [
            Rating(
                player=names[i],
                elo=float(values[i]),
                low=float(values[i] - below[i]),
                high=float(values[i] + above[i]),
                ranks=None if exact else Ranks(int(best[i]), int(worst[i])),
                better=None if exact or after is None else chance_better(drawn, i, after),
                score=float(score[group[i]]),
                games=int(played[group[i]]),
            )
            for i, after in zip(order, [*order[1:], None], strict=True)
        ]
    return Ratings(
        tuple(ratings),
        first_move=Interval.of(first_move, first_move_samples),
        resampled=tally.resampled,
        units=tally.units,
        exact=exact,
        anchor=None if anchor is None else anchor[0],
        centred=anchor is None and bool(centre),
        group_sizes=tuple(map(len, groups)),
        together=together,
        find_circles=functools.partial(circles, tally, elo, seed),
    )


def _shifted(
    elo: Float64s, names: list[str], anchor: tuple[str, float] | None, centre: Collection[str]
) -> Float64s:
    """Move the Elo of a group: the anchor has its Elo, or the mean is 0."""
    if anchor is not None and anchor[0] in names:
        return np.asarray(elo - elo[names.index(anchor[0])] + anchor[1])
    chosen = [name in centre for name in names]
    return np.asarray(elo - elo[chosen if any(chosen) else slice(None)].mean())


def parse_anchor(text: str, players: Sequence[str]) -> tuple[str, float]:
    """Parse ``NAME=ELO``; the name itself may contain ``=``."""
    name, equals, elo = text.rpartition("=")
    try:
        value = float(elo)
    except ValueError:
        value = np.nan
    if not equals or not name or not np.isfinite(value):
        raise InvalidOption(f"anchor {text!r}: expected NAME=ELO, such as random=0")
    _check_anchor((name, value), players)
    return name, value


def _check_anchor(anchor: tuple[str, float], players: Sequence[str]) -> None:
    if isinstance(anchor, str) or len(anchor) != 2:
        name = anchor if anchor in players else players[0]
        raise InvalidOption(
            f"anchor={anchor!r}: expected an agent and its Elo, such as ({name!r}, 0)"
        )
    if anchor[0] not in players:
        raise InvalidOption(f"anchor {anchor[0]!r}: expected one of {', '.join(players)}")
