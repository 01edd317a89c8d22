"""Place an agent on the scale of the leaderboard by few games against opponents of stated Elo.

    place("mine.py:agent") -> Placement        c4 leaderboard --place mine.py:agent --games 40

A game tells most if both sides are equally strong. So the agent plays each opening, with both
colours, against the ``graded`` agent nearest to the Elo that the games so far suggest. The next
opponent depends only on the seed and on the games so far. So the same seed plays the same games,
with any number of jobs and after interruptions.

The Elo is the median of a posterior with Jeffreys' prior, and its interval is the middle 95 %. A
run uses the same prior as Firth's penalty. The stated Elo of an opponent counts as known to within
a standard deviation of 25 Elo.
"""

from __future__ import annotations

import functools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from c4env.arrays import Float64s
from c4env.errors import InvalidOption, require_integer
from c4env.evaluation.progress import ProgressCallback
from c4env.evaluation.ratings.fit import ELO, TAILS, Interval
from c4env.evaluation.ratings.ratings import Ranks, Rating, Ratings
from c4env.evaluation.ratings.tally import RESULT_COLUMNS
from c4env.evaluation.records.game import GameRecord
from c4env.evaluation.records.header import Fixture, RunHeader
from c4env.evaluation.records.run_folder import RUN_FILE, read_header
from c4env.evaluation.results.tournament import Counts, Tournament
from c4env.evaluation.runs.players import PlayerLike, name_players, split_name, title
from c4env.evaluation.runs.run import Settings, choose_openings, make_plan, play_all
from c4env.evaluation.tables import Column, Table, plural, signed

LEVELS: Final = tuple(range(-1100, 426, 25))
"""The Elo of the opponents."""
GAMES: Final = 40
PLIES: Final = 3  # of the openings, as many as the leaderboard's openings have
MOST: Final = 242  # games: both colours of 121 openings
LEVEL_ERROR: Final = 25.0  # standard deviation of a level's Elo
_START: Final = -300.0, 600.0  # the Elo that chooses the first opponent, and its deviation
_GRID: Final = np.arange(-4000.0, 3001.0, 10.0)  # Elo at which a posterior is computed
_NODES: Final = 9  # nodes of the quadrature over a level's error


def estimate(results: Mapping[float, tuple[float, float]]) -> Interval:
    """Return an agent's Elo from its points and games against opponents of known Elo.

    Args:
        results: the points and the number of games by the opponent's Elo; at least one game.

    Example:
        >>> [round(x) for x in estimate({-100: (6, 10), 0: (14, 30)})]
        [-25, -140, 91]
    """
    errors, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    log = np.zeros_like(_GRID)
    info = np.zeros_like(_GRID)
    for elo, (points, games) in results.items():
        won, lost = _log_chances(_GRID - elo - LEVEL_ERROR * errors[:, None])
        likelihood = points * won + (games - points) * lost
        most = likelihood.max(0)
        log += most + np.log(weights @ np.exp(likelihood - most))
        info += games * np.exp(sum(_log_chances(_GRID - elo)))
    low, middle, high = _quantiles(log + np.log(info) / 2, [TAILS[0], 50, TAILS[1]])
    return Interval(middle, low, high)


def _log_chances(ahead: Float64s) -> tuple[Float64s, Float64s]:
    """Return the logarithms of the chances to win and to lose, by an Elo difference."""
    return -np.logaddexp(0, -ahead / ELO), -np.logaddexp(0, ahead / ELO)


def _quantiles(log_density: Float64s, percent: Sequence[float]) -> list[float]:
    density = np.exp(log_density - log_density.max())
    below = (density.cumsum() - density / 2) / density.sum()
    return [float(np.interp(p / 100, below, _GRID)) for p in percent]


def next_level(results: Mapping[float, tuple[float, float]]) -> int:
    """Return the Elo of the opponent against which the next games tell most."""
    mean, deviation = _START
    log = -(((_GRID - mean) / deviation) ** 2) / 2
    for elo, (points, games) in results.items():
        won, lost = _log_chances(_GRID - elo)
        log += points * won + (games - points) * lost
    density = np.exp(log - log.max())
    expected = float(density @ _GRID / density.sum())
    return min(LEVELS, key=lambda level: abs(level - expected))


def opponent(level: int) -> str:
    """Return the spec of the opponent of a level."""
    return f"graded:elo={level}"


_LEVEL_OF: Final = {opponent(level): level for level in LEVELS}


def results_of(games: Iterable[GameRecord], player: str) -> dict[float, tuple[float, float]]:
    """Return a player's points and games by the level of its opponents."""
    points, counts = defaultdict[float, float](float), Counter[float]()
    for game in games:
        seat = game.players.index(player)
        level = _LEVEL_OF[game.players[1 - seat]]
        points[level] += game.points[seat]
        counts[level] += 1
    return {level: (points[level], counts[level]) for level in sorted(counts)}


class Nearest(NamedTuple):
    """The course of a placement: each pair of games is against the opponent of the nearest Elo."""

    player: str
    openings: tuple[str, ...]  # in the order of playing
    games: int
    width: float | None = None  # of the interval, in Elo, at which the placement ends

    def played(self, known: Mapping[Fixture, GameRecord]) -> tuple[list[GameRecord], list[Fixture]]:
        """Return the known games of the course, and the missing games of the next pair."""
        games: list[GameRecord] = []
        for opening in self.openings[: self.games // 2]:
            results = results_of(games, self.player)
            if games and self.width is not None:
                _, low, high = estimate(results)
                if high - low <= self.width:
                    return games, []
            other = opponent(next_level(results))
            pair = [((self.player, other), opening), ((other, self.player), opening)]
            games += [known[fixture] for fixture in pair if fixture in known]
            if missing := [fixture for fixture in pair if fixture not in known]:
                return games, missing
        return games, []


class PlaceRow(NamedTuple):
    """A row of the leaderboard with the newcomer."""

    rank: Ranks | None
    agent: str
    Elo: Interval
    reliable: float | None = None
    Elo_reliable: Interval | None = None
    asked_again: int | None = None


PLACE_COLUMNS: Final = (
    Column("rank"),
    Column("agent"),
    Column("Elo", signed),
    Column("reliable", ".1%"),
    Column("Elo_reliable", signed),
    Column("asked_again"),
)
LEVEL_COLUMNS: Final = (
    Column("opponent", of=lambda row: row[0]),
    *RESULT_COLUMNS,
)


class LevelRatings(Ratings):
    """The ratings of a newcomer and of its opponents, whose Elo is as stated."""

    def with_games(self, games: Sequence[GameRecord]) -> Ratings:
        """Return these ratings; they have costs and forfeits, and a fit ignores the stated Elo."""
        return self

    def method_note(self) -> str:
        """A note on the method of the interval."""
        return f"95 % interval; the opponents' Elo is known to within {LEVEL_ERROR:g} Elo."

    def warnings(self) -> tuple[str, ...]:
        """Nothing: only the newcomer's Elo is not known."""
        return ()


@dataclass(frozen=True, repr=False)
class Placement(Tournament):
    """An agent's games against opponents of stated Elo, and its place in the leaderboard.

    Example:
        >>> placement = place("alphabeta:depth=3", games=4)
        >>> placement.newcomer, len(placement.games)
        ('alphabeta:depth=3', 4)
    """

    @property
    def newcomer(self) -> str:
        """The name of the agent that was placed."""
        (name,) = self.header.challengers
        return name

    @functools.cached_property
    def players(self) -> tuple[str, ...]:
        """The agent, and the opponents that it met."""
        met = {name for game in self.games for name in game.players} & _LEVEL_OF.keys()
        return (self.newcomer, *sorted(met, key=lambda name: _LEVEL_OF[name]))

    @functools.cached_property
    def elo(self) -> Interval:
        """The agent's Elo on the scale of the leaderboard; a forfeit is a loss."""
        return estimate(results_of(self.games, self.newcomer))

    def rate(self, anchor: tuple[str, float] | None = None) -> Ratings:
        """Rate the agent; the opponents keep their Elo.

        Raises:
            InvalidOption: there is an anchor.
        """
        if anchor is not None:
            raise InvalidOption(
                f"anchor {anchor[0]!r}: a placement has the leaderboard's zero: expected no anchor"
            )
        fitted = super().rate()
        kept = [game for game in self.games if game.forfeited_by is None]
        players = []
        for rating in fitted:
            elo, own = Interval(*[float(_LEVEL_OF.get(rating.player, 0))] * 3), None
            if rating.player == self.newcomer:
                elo = self.elo
                if kept and rating.reliable is not None and rating.reliable < 1:
                    own = estimate(results_of(kept, self.newcomer))
            low, high = elo.low, elo.high
            rated = replace(rating, elo=elo.value, low=low, high=high, ranks=None, better=None)
            players.append(replace(rated, finished=own))
        players.sort(key=lambda r: -r.elo)
        return LevelRatings(tuple(players), fitted.first_move, fitted.resampled, fitted.units)

    @property
    def own(self) -> Rating:
        """The rating of the agent that was placed."""
        return next(r for r in self.ratings if r.player == self.newcomer)

    @functools.cached_property
    def notes(self) -> tuple[str, ...]:
        """Notes on how the games were played."""
        return self.header.notes()

    @functools.cached_property
    def places(self) -> list[PlaceRow]:
        """The leaderboard with the agent; a rank is the 95 % interval of a place."""
        from c4env.evaluation.results.leaderboard import stored_board

        rows = []
        value, low, high = self.elo
        above = below = 0  # members that differ from the agent
        for member in stored_board().rate():
            is_above = member.elo - value > math.hypot(member.elo - member.low, high - value)
            is_below = value - member.elo > math.hypot(member.high - member.elo, value - low)
            above += is_above
            below += is_below
            ranks = member.ranks
            if ranks is not None:  # the agent takes, or may take, a place above the member
                ranks = Ranks(ranks.best + is_below, ranks.worst + (not is_above))
            elo = Interval(member.elo, member.low, member.high)
            rows.append(PlaceRow(ranks, member.player, elo))
        rank = Ranks(1 + above, len(rows) + 1 - below)
        own = self.own
        more = own.reliable, own.finished, own.asked_again
        rows.append(PlaceRow(rank, self.newcomer, self.elo, *more))
        return sorted(rows, key=lambda row: -row.Elo.value)

    def headline(self) -> str:
        """Return the Elo and the place of the agent in a sentence."""
        (row,) = (row for row in self.places if row.agent == self.newcomer)
        low, high = map(signed, self.elo[1:])
        return (
            f"{self.newcomer} has Elo {signed(self.elo.value)} (95 %: {low} .. {high}) and place "
            f"{row.rank} of {len(self.places)} on the leaderboard, by "
            f"{plural(len(self.games), 'game')}."
        )

    def tables(self) -> Mapping[str, Table]:
        """The leaderboard with the agent, and its results by opponent."""
        if not self.games:
            return super().tables()
        columns = [c for c in PLACE_COLUMNS if any(c.value(r) is not None for r in self.places)]
        levels = [
            (name, self.table.cell(self.newcomer, name) + ~self.table.cell(name, self.newcomer))
            for name in self.players[1:]
        ]
        forfeits = [Column("forfeits", of=lambda row: self._forfeits(row[0]))]
        forfeits = forfeits if self.table.forfeits else []
        return {
            "leaderboard": Table(columns, self.places),
            "opponents": Table([*LEVEL_COLUMNS, *forfeits], levels),
        }

    def _forfeits(self, other: str) -> Counts:
        """The games against an opponent that the agent and that the opponent forfeited."""
        first = self.table.forfeits_between(self.newcomer, other)
        second = self.table.forfeits_between(other, self.newcomer)
        return Counts(first.first + second.second, first.second + second.first)

    def advice(self) -> list[str]:
        """Return how to play more games, if there are more."""
        more = f"For a narrower interval use --games N, N > {len(self.games)}."
        return [more] if len(self.games) < MOST else []


def place(
    newcomer: PlayerLike,
    games: int = GAMES,
    width: float | None = None,
    *,
    seed: int = 0,
    jobs: int = 1,
    out: str | Path | None = None,
    movetime: float | None = None,
    margin: float = 0.1,
    again: bool = False,
    watch: ProgressCallback | None = None,
    on_game: Callable[[GameRecord], None] | None = None,
) -> Placement:
    """Place an agent on the scale of the leaderboard, against opponents chosen by its results.

    The 95 % interval of 40 games is about 230 Elo wide; four times as many games halve it.

    Args:
        newcomer: a spec, or a callable on an observation.
        games: number of games, at most 242; every two games share an opening.
        width: stop once the interval of the Elo is at most this wide, in Elo.
        seed, jobs, out, movetime, margin, again, watch, on_game: see
            :class:`c4env.evaluation.runs.run.Settings`. At most two games are played at a time,
            because the next opponent depends on their results.

    Returns:
        the games, with the agent's Elo and place.

    Raises:
        InvalidOption: a number is invalid.
        UnreadableRun: ``out`` holds another run.
        Unwritable: another process is writing to ``out``.
        UnknownAgent: a spec is wrong, or its agent cannot be made.

    Example:
        >>> [round(x) for x in place("greedy", games=6, seed=1).elo]
        [-605, -936, -291]
    """
    require_integer("games", games, 2, f"an even number 2..{MOST}", high=MOST)
    if games % 2:
        raise InvalidOption(f"games={games}: expected an even number, both colours of each opening")
    if width is not None and not width > 0:
        raise InvalidOption(f"width={width:g}: expected the width of an interval in Elo, above 0")
    settings = Settings(
        seed=seed, jobs=jobs, out=out, movetime=movetime, margin=margin, again=again,
        watch=watch, on_game=on_game,
    )  # fmt: skip
    settings = replace(settings, jobs=min(settings.jobs, 2))
    name = split_name(newcomer)[0] if isinstance(newcomer, str) else title(newcomer)
    spec = split_name(newcomer)[1] if isinstance(newcomer, str) else newcomer
    if name in _members() or name in _LEVEL_OF:
        name += " (again)"
    _require_same(settings.out, name)
    field = name_players({name: spec, **{other: other for other in _LEVEL_OF}})
    openings = choose_openings(PLIES, settings.seed)
    course = Nearest(name, tuple(openings), games, width)
    plan = make_plan(field, openings, settings, "placement", (name,), course=course)
    return Placement(plan.header, play_all(plan))


def _members() -> Iterable[str]:
    from c4env.evaluation.results.leaderboard import stored_board

    return stored_board().field


def _require_same(out: str | Path | None, name: str) -> None:
    """Raise an error if the directory has the placement of another agent."""
    if out is not None and (Path(out) / RUN_FILE).exists():
        header: RunHeader = read_header(Path(out))
        if header.kind == "placement" and header.challengers != (name,):
            raise InvalidOption(
                f"out={str(out)!r}: expected a directory for {name!r}, not the directory of "
                f"{header.challengers[0]!r}"
            )
