"""Play a match of two agents, in colour-swapped pairs of games, with or without an SPRT."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from operator import methodcaller
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from c4env.errors import InvalidOption, UnreadableRun
from c4env.evaluation.progress import ProgressCallback
from c4env.evaluation.ratings.fit import Interval
from c4env.evaluation.ratings.ratings import Ratings, rate
from c4env.evaluation.ratings.sprt import (
    SCORES,
    Decision,
    Sprt,
    compared,
    normalized_elo,
    score_of,
)
from c4env.evaluation.ratings.tally import Cost, Tally, WinDrawLoss, costs
from c4env.evaluation.records.game import GameRecord
from c4env.evaluation.records.header import RunHeader, SprtPlan
from c4env.evaluation.records.import_games import games_in, games_of
from c4env.evaluation.records.run_folder import GAMES_FILE, read_folder
from c4env.evaluation.results.placement import Placement
from c4env.evaluation.results.tournament import Counts, Gauntlet, Tournament, ends_of
from c4env.evaluation.runs.players import (
    PlayerLike,
    PlayersLike,
    as_players,
    name_advice,
    name_players,
)
from c4env.evaluation.runs.run import Openings, Settings, choose_openings, make_plan, play_plan
from c4env.evaluation.tables import Column, Table, plural, signed

NORMAL_FROM: Final = 25  # pairs of games; fewer pairs show no normal interval


@dataclass(frozen=True, repr=False)
class Match(Tournament):
    """A match of two agents, from the view of the first agent.

    The two games of a pair begin from the same opening. If the match has a sequential test, the
    match ends when the test decides. ``openings`` also includes openings that were not played.

    Attributes:
        pairs: the points of the first agent in each pair of games.
        sprt: the sequential test, or None.

    Example:
        >>> play_match("greedy", "random", openings=1).pairs
        (1.0, 2.0, 2.0, 2.0)
    """

    pairs: tuple[float, ...] = ()
    sprt: Sprt | None = None

    @classmethod
    def of(cls, header: RunHeader, games: Sequence[GameRecord]) -> Match:
        """Make a match from the header and the games of a run directory."""
        one, _ = header.players
        sprt = None if header.sprt is None else Sprt(*header.sprt)
        by_fixture = {game.fixture: game for game in games}
        ordered = [by_fixture[f] for f in header.schedule() if f in by_fixture]
        games, pairs = _until_decided(ordered, sprt, one)
        return cls(header, games, pairs, sprt)

    @functools.cached_property
    def pentanomial(self) -> Pentanomial:
        """The numbers of pairs of games by their points for the first agent."""
        return Pentanomial(*(self.pairs.count(2 * points) for points in SCORES))

    def course(self) -> list[float]:
        """The test's log likelihood ratio after each pair."""
        assert self.sprt is not None
        kinds = np.array(self.pairs)[:, None] == 2 * SCORES
        return [*map(float, self.sprt.llr(np.cumsum(kinds, 0)))]

    @functools.cached_property
    def decision(self) -> Decision | None:
        """The hypothesis that the test accepted; None without a test, or before it decides."""
        if self.sprt is None:
            return None
        return self.sprt.decide(self.pentanomial)

    @functools.cached_property
    def ratings(self) -> Ratings:
        """The ratings of both agents; without an anchor, the second agent has Elo 0."""
        return self.rate(self.anchor or (self.players[1], 0))

    @property
    def elo(self) -> Interval:
        """The Elo of the first agent minus the Elo of the second agent."""
        return self.ratings.difference(*self.players)

    @property
    def total(self) -> WinDrawLoss:
        """The wins, draws and losses of the first agent."""
        return self.table.total(self.players[0])

    @property
    def score(self) -> Interval:
        """The first agent's points per game, 0..1, with an interval."""
        return score_of(self.elo, self.total.score)

    @property
    def llr(self) -> Llr | None:
        """The test's log likelihood ratio with its bounds, or None without a test."""
        if self.sprt is None:
            return None
        return Llr(self.course()[-1] if self.pairs else 0.0, *self.sprt.bounds)

    @property
    def pairs_ratio(self) -> float | None:
        """The won pairs of games per lost pair, or None if no pair is lost."""
        lost, won = sum(self.pentanomial[:2]), sum(self.pentanomial[3:])
        return won / lost if lost else None

    @property
    def lines(self) -> Table:
        """The result as one row; text and Markdown show the row as lines."""
        columns = [Column("agent", of=lambda m: m.players[0])]
        columns.append(Column("opponent", of=lambda m: m.players[1]))
        forfeits = [Column(kind, of=methodcaller("forfeits", kind)) for kind in self.table.kinds]
        again = [Column("asked_again", of=lambda m: m.asked_again)]
        lines = [*MATCH_COLUMNS, [*forfeits, *(RELIABILITY if forfeits else ())], again]
        return Table([*columns, *chain(*lines)], [self], lines=lines)

    @property
    def normalized_elo(self) -> Interval | None:
        """The normalized Elo of the pairs; with fewer than 25 pairs it has no interval.

        The interval assumes a normal distribution, which is too narrow for few pairs.
        """
        elo = normalized_elo(self.pentanomial)
        if elo is None or len(self.pairs) >= NORMAL_FROM:
            return elo
        return Interval(elo.value, math.nan, math.nan)

    @property
    def reliable(self) -> Shares:
        """The shares of the games that the two agents did not forfeit, 0..1."""
        lost = (self.table.forfeits.get(player, Counter()).total() for player in self.players)
        return Shares(*(1 - count / max(len(self.games), 1) for count in lost))

    @property
    def elo_reliable(self) -> Interval | None:
        """The Elo difference over the games that nobody forfeited; None without any."""
        kept = [game for game in self.games if game.forfeited_by is None]
        return rate(Tally.of(kept, self.players)).difference(*self.players) if kept else None

    @property
    def asked_again(self) -> Counts | None:
        """How often the two agents' language models were asked again; None if never."""
        spent = costs(self.games)
        again = Counts(*(spent.get(player, Cost()).asked_again for player in self.players))
        return again if any(again) else None

    def forfeits(self, kind: str) -> Counts:
        """The numbers of games that the two agents forfeited by a kind of forfeit."""
        return Counts(*(self.table.forfeited(player, kind) for player in self.players))

    # -- what is printed ---------------------------------------------------------------

    def tables(self) -> Mapping[str, Table]:
        """The result as one row."""
        return {"match": self.lines} if self.games else super().tables()

    def headline(self) -> str:
        """Return what the test decided, or without a test who is stronger and by how much."""
        if (test := self.sprt) is None:
            return super().headline()
        one, other = self.players
        after = f"after {plural(len(self.pairs), 'pair')} of games"
        if self.decision is not None:
            known = test.conclusion(self.decision, other)
            return f"{self.decision} accepted {after}: {one} is {known}."
        h0, h1 = (compared(value, other) for value in (test.h0, test.h1))
        more = "the same command resumes the match"
        if len(self.pairs) == len(self.openings):
            more = "more openings continue the test"
        return f"Undecided {after}: whether {one} is {h1} (H1) or {h0} (H0); {more}."

    def forfeited(self) -> list[str]:
        """Return sentences on who forfeited games and why, and on the Elo without forfeits."""
        lines = self.table.reasons_of_forfeits()
        if lines and (elo := self.elo_reliable):
            lines.append(
                f"Over games that nobody forfeited {self.players[0]} is {signed(elo.value)} Elo "
                f"({ends_of(elo)}), over all {signed(self.elo.value)}: forfeits are losses."
            )
        return lines

    def advice(self) -> list[str]:
        """Return how the decision of the test biases the Elo, or else how to play more."""
        if self.decision is None:
            return super().advice()
        return ["The test stopped the match, which biases Elo and score towards its decision."]

    def _about_ratings(self) -> list[str]:
        return [self.ratings.line(), *self.ratings.warnings()]


class Pentanomial(NamedTuple):
    """The numbers of pairs of games with 0, 1/2, 1, 3/2 and 2 points."""

    LL: int
    LD: int
    WL_DD: int
    WD: int
    WW: int

    def __str__(self) -> str:
        return str([*self])


class Shares(NamedTuple):
    """The shares of games, 0..1, that two agents did not forfeit."""

    agent: float
    opponent: float

    def __str__(self) -> str:
        return f"{self.agent:.1%} (opponent: {self.opponent:.1%})"


class Llr(NamedTuple):
    """A log likelihood ratio, and the bounds at which the test accepts H0 and H1."""

    value: float
    lower: float
    upper: float

    def __str__(self) -> str:
        return f"{self.value:.2f} ({self.lower:.2f}, {self.upper:.2f})"


MATCH_COLUMNS: Final = (
    (
        Column("Elo", signed, lambda m: m.elo),
        Column("nElo", signed, lambda m: m.normalized_elo),
        Column("LOS", ".1%", lambda m: m.ratings.superiority(*m.players)),
    ),
    (
        Column("LLR", of=lambda m: m.llr),
        Column("H0", "g", lambda m: m.sprt and m.sprt.h0),
        Column("H1", "g", lambda m: m.sprt and m.sprt.h1),
        Column("accepted", of=lambda m: m.decision),
    ),
    (Column("pentanomial"), Column("pairs_ratio", ".2f")),
    (
        Column("games", of=lambda m: len(m.games)),
        Column("wins", of=lambda m: m.total.wins),
        Column("draws", of=lambda m: m.total.draws),
        Column("losses", of=lambda m: m.total.losses),
        Column("points", "g", lambda m: m.total.points),
        Column("score", ".1%"),
    ),
)
"""The columns of a match, by the line of text that shows them."""
RELIABILITY: Final = (Column("reliable"), Column("Elo_reliable", signed, lambda m: m.elo_reliable))
"""The columns of a match with forfeits: how much the forfeits change the Elo."""


def play_match(
    one: PlayersLike | PlayerLike,
    other: PlayersLike | PlayerLike,
    openings: Openings = 3,
    sprt: Sprt | str | None = None,
    on_pair: Callable[[float], None] | None = None,
    *,
    seed: int = 0,
    jobs: int = 1,
    out: str | Path | None = None,
    limit: int | None = None,
    movetime: float | None = None,
    margin: float = 0.1,
    again: bool = False,
    backend: str | None = None,
    address: str | None = None,
    watch: ProgressCallback | None = None,
    on_game: Callable[[GameRecord], None] | None = None,
) -> Match:
    """Play two agents against each other from each opening, with both colours.

    The test counts the pairs in the order of the openings, so the decision does not depend on the
    number of workers or on interruptions. If a later call has the same ``out`` and more openings,
    the test continues with the new openings.

    Args:
        one: the agent whose score is shown: a spec, a callable on an observation, or a mapping from
            a name to one of these.
        other: the opponent.
        openings: as in :func:`evaluation.round_robin`; the seed shuffles the openings, but not a
            list (:func:`c4env.evaluation.runs.run.choose_openings`).
        sprt: the test that stops the match as soon as it decides, or the two Elo differences of
            the test, for example ``"0,40"``; None plays all openings.
        on_pair: called after each pair, with the points of the first agent.
        seed, jobs, out, limit, movetime, margin, again, backend, address, watch, on_game: see
            :class:`c4env.evaluation.runs.run.Settings`.

    Raises:
        InvalidOption: a side is not one agent, both sides have the same name, or a number is
            invalid.
        UnreadableRun: ``out`` holds another run.
        Unwritable: another process is writing to ``out``.

    Example:
        >>> match = play_match("greedy", "random", openings=1)
        >>> match.score.value
        0.875
    """
    settings = Settings(
        seed=seed, jobs=jobs, out=out, limit=limit, movetime=movetime, margin=margin,
        again=again, backend=backend, address=address, watch=watch, on_game=on_game,
    )  # fmt: skip
    sprt = None if sprt is None else Sprt.of(sprt)
    starts = choose_openings(openings, settings.seed, settings.limit)
    sides = [name_players(as_players(side)) for side in (one, other)]
    for side in sides:
        if len(side) != 1:
            raise InvalidOption(f"{len(side)} agents on a side: expected play_match(one, other)")
    (first,), (second,) = sides
    if first == second:
        raise InvalidOption(
            f"agent {first!r} is given twice: {name_advice(sides[0][first], sides[1][second])}"
        )
    field = {**sides[0], **sides[1]}
    if sprt is not None:
        starts = _continued(starts, settings.out)
    test = None if sprt is None else SprtPlan(sprt.h0, sprt.h1, sprt.alpha, sprt.beta)
    plan = make_plan(field, starts, settings, "match", sprt=test)
    with closing(play_plan(plan, ordered=True)) as played:
        games, pairs = _until_decided(played, sprt, first, on_pair)
    return Match(plan.header, games, pairs, sprt)


def read_run(folder: str | Path) -> Tournament:
    """Read a run directory, finished or not, or a directory of games that people played.

    Returns:
        a :class:`Match` for a match, a ``Placement`` for one agent's place, else a
        :class:`Tournament`.

    Raises:
        UnreadableRun: the directory holds no run, or is damaged.

    Example:
        >>> result = round_robin(["greedy", "random"], openings=0, out="run")
        >>> read_run("run").digest == result.digest
        True
    """
    header, games = read_folder(Path(folder))
    if header.kind == "match":
        return Match.of(header, games)
    if header.kind == "placement":
        return Placement(header, tuple(games))
    order = {fixture: number for number, fixture in enumerate(header.schedule())}
    kind = Gauntlet if len(header.challengers) == 1 else Tournament
    return kind(header, tuple(sorted(games, key=lambda game: order.get(game.fixture, 0))))


def read_games(
    source: str | Path | Iterable[Any] | Mapping[str, Any], names: Sequence[str] | None = None
) -> Tournament:
    """Read games of other programs as a run, with tables, ratings, judged moves and a page.

    Args:
        source: a file, a folder, or Python objects.

            - A text with one game per line: ``first second moves``, or with ``names`` only the
              moves. A result (``1-0``, ``0-1``, ``1/2-1/2``, ``*``) may follow. If the moves do not
              end the game, the line then says how the game ended: ``resigned``, ``time``,
              ``illegal`` or ``cut``.
            - ``.csv``, ``.json`` or ``.jsonl`` of ``c4 report --games`` and of runs.
            - An episode of Kaggle's ConnectX, a log of SPIN-Bench or TextArena, a state that
              OpenSpiel serialized, or JSON lists of actions.
            - A folder: a run directory, or all files that end in ``.csv``, ``.json``, ``.jsonl`` or
              ``.txt``, in the order of their names.
            - An iterable of move strings, lists of columns, and ``(first, second, moves)``.

            Digits in a text are 1-based columns; a list of integers has 0-based columns.
        names: the first and the second player of games that do not name their players. Without
            names, Python objects have the players ``first`` and ``second``, and files are refused.

    Returns:
        the games. A game without a result has the ending ``cut``: its moves are judged, but tables
        do not count it.

    Raises:
        UnreadableRun: a game cannot be read, contradicts its stated result, or has no names.
        InvalidOption: ``names`` are not two texts.

    Example:
        >>> read_games([("gpt", "claude", "4455667"), ("claude", "gpt", [3, 2, 3])])
        <Tournament: 2 games of gpt, claude>
    """
    players = None
    if names is not None:
        if isinstance(names, str) or len(names) != 2 or not all(isinstance(n, str) for n in names):
            raise InvalidOption(f"names={names!r}: expected the first and the second player")
        players = names[0], names[1]
    if isinstance(source, str | Path):
        path = Path(source)
        if path.is_dir() and (path / GAMES_FILE).exists():
            if players is not None:
                raise InvalidOption(f"names={names!r}: expected none, since {path} is a run")
            return read_run(path)
        games = games_in(path, players)
    elif isinstance(source, Iterable):
        games = games_of([source] if isinstance(source, Mapping) else source, players)
    else:
        raise InvalidOption(f"{source!r}: expected a file, a folder, or an iterable of games")
    return Tournament(RunHeader(kind="games from elsewhere"), tuple(games))


def _until_decided(
    games: Iterable[GameRecord],
    sprt: Sprt | None,
    one: str,
    on_pair: Callable[[float], None] | None = None,
) -> tuple[tuple[GameRecord, ...], tuple[float, ...]]:
    """Return the games up to the decision of the test, and the first agent's points per pair."""
    played: list[GameRecord] = []
    pairs: list[float] = []
    counts = [0] * len(SCORES)
    first: GameRecord | None = None  # of a pair
    for game in games:
        played.append(game)
        if first is None or first.opening != game.opening:
            first = game
            continue
        pairs.append(sum(g.points[g.players.index(one)] for g in (first, game)))
        first = None
        if on_pair is not None:
            on_pair(pairs[-1])
        counts[round(2 * pairs[-1])] += 1
        if sprt is not None and sprt.decide(counts) is not None:
            break
    return tuple(played), tuple(pairs)


def _continued(openings: list[str], out: str | Path | None) -> list[str]:
    """Return the openings of a test: the openings of an earlier run in ``out``, then new ones."""
    if out is None:
        return openings
    try:
        header, games = read_folder(Path(out))
    except UnreadableRun:  # no run yet, or a damaged run that another function reports
        return openings
    earlier = header.openings if games else ()
    return openings if {*openings} <= {*earlier} else list(dict.fromkeys([*earlier, *openings]))
