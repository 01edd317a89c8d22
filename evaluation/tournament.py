"""Runs: lists of games between the agents of a field, played by workers and kept on disk."""

from __future__ import annotations

import functools
import operator
import platform
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import closing, nullcontext
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

import numpy as np

from evaluation.errors import InvalidRun, WorkerDied
from evaluation.field import (
    Player,
    Players,
    describe_player,
    deterministic_players,
    name_players,
)
from evaluation.openings import Openings, choose_openings
from evaluation.ratings import Ratings, rate
from evaluation.record import GameFile, GameRecord, digest
from evaluation.schedule import Fixture, gauntlet_order, opening_major
from evaluation.wintable import WinTable
from evaluation.workers import play_all

Watcher = Callable[[int, int], None]

MAX_SEED: Final = 2**63 - 1


@dataclass(frozen=True)
class Settings:
    """How a run is played, apart from who plays whom.

    Attributes:
        seed: the same seed gives the same games for any number of jobs.
        jobs: worker processes (joblib; wrap the call in ``joblib.parallel_config`` for
            another backend). Players that are objects must then be picklable.
        out: a run directory. Games are written there as they end; a repeated call plays
            only those that are missing.
        watch: called with games done and games in all, now and then.
        limit: play only so many of the openings, the first in the order of the seed.

    Raises:
        InvalidRun: one of them is not what it should be.
    """

    seed: int = 0
    jobs: int = 1
    out: str | Path | None = None
    watch: Watcher | None = None
    limit: int | None = None

    def __post_init__(self) -> None:
        put = functools.partial(object.__setattr__, self)
        put("seed", _whole("seed", self.seed, 0, MAX_SEED, "an integer 0..2**63-1"))
        jobs = "a number of processes, at least 1"
        put("jobs", _whole("jobs", self.jobs, 1, MAX_SEED, jobs))
        if self.limit is not None:
            openings = "a number of openings, at least 1"
            put("limit", _whole("limit", self.limit, 1, MAX_SEED, openings))
        if self.out is not None:
            if not str(self.out).strip():
                raise InvalidRun(f"out={self.out!r}: expected the name of a directory")
            put("out", Path(self.out))


@dataclass(frozen=True)
class Tournament:
    """What a round robin or a gauntlet found.

    Attributes:
        players: the agents' names, in the order given.
        openings: move strings the games began from.
        games: one record a game, in the order of the schedule.
        deterministic: the agents known to answer the same position always alike.
    """

    players: tuple[str, ...]
    openings: tuple[str, ...]
    games: tuple[GameRecord, ...]
    deterministic: tuple[str, ...] = ()

    @functools.cached_property
    def table(self) -> WinTable:
        """First player in rows against second player in columns, and totals."""
        return WinTable.of(self.games, self.players)

    @functools.cached_property
    def ratings(self) -> Ratings:
        """Elo of each agent and its interval, the strongest first; the mean is 0."""
        return self.rate()

    def rate(self, anchor: tuple[str, float] | None = None) -> Ratings:
        """The ratings, with the Elo of an agent set if so wished.

        Raises:
            InvalidRun: the anchor is none of the players.
        """
        return rate(self.games, self.players, deterministic=self.deterministic, anchor=anchor)

    @property
    def digest(self) -> str:
        """Hex digest of the games: equal for equal seeds, whatever the workers."""
        return digest(self.games)


def round_robin(players: Players, openings: Openings = 3, **settings: Any) -> Tournament:
    """Play every pairing of agents over the openings, each with both colours.

    Args:
        players: spec strings (``"alphabeta:depth=5"``), or callables on an observation
            (agents, functions) named by their ``name`` or ``__name__``; or a mapping from
            names to either.
        openings: a number of plies, for all mirror-reduced positions after so many;
            ``"balanced:4,2"``, a file, or the move strings themselves: see
            :func:`evaluation.openings.choose_openings`.
        settings: ``seed``, ``jobs``, ``out``, ``watch``, ...: see :class:`Settings`.

    Raises:
        InvalidRun: fewer than two agents, one twice, or a bad number.
        UnreadableRun: ``out`` holds something else.
        UnknownAgent, UnknownOption, ...: a spec is wrong.
    """
    chosen = Settings(**settings)
    starts = choose_openings(openings, chosen.seed, chosen.limit)
    field = name_players(players)
    if len(field) < 2:
        raise InvalidRun(f"{len(field)} agent(s) given: a round robin needs at least two")
    return _whole_run(field, opening_major(tuple(field), starts), starts, chosen, {})


def gauntlet(
    challengers: Players | Player,
    field: Players,
    openings: Openings = 3,
    **settings: Any,
) -> Tournament:
    """Play every challenger against every agent of a field, over the openings, both colours.

    Args:
        challengers: one agent or several, given as the players of :func:`round_robin` are;
            they do not meet each other.
        field: the agents they meet, which do not meet each other either.
        openings: as in :func:`round_robin`.
        settings: ``seed``, ``jobs``, ``out``, ``watch``, ...: see :class:`Settings`.

    Raises:
        InvalidRun: no challenger, an empty field, an agent twice, or a bad number.
        UnreadableRun: ``out`` holds something else.
        UnknownAgent, UnknownOption, ...: a spec is wrong.
    """
    chosen = Settings(**settings)
    starts = choose_openings(openings, chosen.seed, chosen.limit)
    one = isinstance(challengers, str) or callable(challengers)
    front = name_players([challengers] if one else challengers)  # type: ignore[list-item, arg-type]
    others = name_players(field)
    for name in others:
        if name in front:
            raise InvalidRun(f"agent {name!r} is a challenger and in the field")
    if not front or not others:
        raise InvalidRun("a gauntlet needs a challenger and at least one agent in the field")
    schedule = gauntlet_order(tuple(front), tuple(others), starts)
    about = {"challengers": list(front)}
    return _whole_run({**front, **others}, schedule, starts, chosen, about)


def _whole_run(
    field: Mapping[str, Player],
    schedule: Sequence[Fixture],
    openings: Sequence[str],
    settings: Settings,
    about: Mapping[str, Any],
) -> Tournament:
    found = {game.key: game for game in play(field, schedule, openings, settings, about)}
    games = tuple(found[(*pair, opening)] for pair, opening in schedule)
    known = tuple(deterministic_players(field))
    return Tournament(tuple(field), tuple(openings), games, known)


def play(
    field: Mapping[str, Player],
    schedule: Sequence[Fixture],
    openings: Sequence[str],
    settings: Settings,
    about: Mapping[str, Any] | None = None,
    ordered: bool = False,
) -> Generator[GameRecord, None, None]:
    """Play a list of games, and give each as soon as it is over and written.

    With a run directory the games that are there already come first, in the order of the
    schedule; only the missing ones are played. Whoever takes the games may stop taking them
    (close the generator): the workers end, and another call goes on from there.

    Args:
        field: players by name (:func:`evaluation.field.name_players`).
        schedule: every game at most once.
        openings: those of the schedule, for the header.
        settings: how to play.
        about: what the header holds besides; a directory whose header differs is refused.
        ordered: give, and write, the games in the order of the schedule, holding back those
            that end early. One who stops after the nth game so leaves n games, the same
            for any number of workers.

    Raises:
        UnreadableRun: the run directory holds something else.
        WorkerDied: a worker process died.
    """
    header = {
        "players": {name: describe_player(player) for name, player in field.items()},
        "openings": list(openings),
        "seed": settings.seed,
        "deterministic": deterministic_players(field),
        "c4env": _version(),
        **(about or {}),
    }
    out = settings.out
    with GameFile(Path(out), header) if out is not None else nullcontext() as file:
        there = {game.key: game for game in file.games} if file is not None else {}
        missing = [(pair, opening) for pair, opening in schedule if (*pair, opening) not in there]
        done = len(schedule) - len(missing)
        if settings.watch is not None:
            settings.watch(done, len(schedule))
        yield from (
            there[(*pair, opening)] for pair, opening in schedule if (*pair, opening) in there
        )
        try:
            with closing(play_all(field, missing, settings.seed, settings.jobs)) as fresh:
                for game in _in_order(fresh, missing) if ordered else fresh:
                    if file is not None:
                        file.append(game)
                    done += 1
                    if settings.watch is not None:
                        settings.watch(done, len(schedule))
                    yield game
        except BrokenExecutor:
            raise WorkerDied(
                f"a worker process died after {done} of {len(schedule)} games; those are "
                "kept where a run directory was named, and --jobs 1 shows which agent it is"
            ) from None


def _in_order(games: Iterator[GameRecord], schedule: Sequence[Fixture]) -> Iterator[GameRecord]:
    """The games in the order of the schedule, each as soon as it and all before it are there."""
    early: dict[tuple[str, str, str], GameRecord] = {}
    for pair, opening in schedule:
        key = (*pair, opening)
        while key not in early:
            game = next(games)
            early[game.key] = game
        yield early.pop(key)


def _whole(name: str, value: object, low: int, high: int, expected: str) -> int:
    """A whole number in range, NumPy's among them.

    Raises:
        InvalidRun: it is not one.
    """
    try:
        number = -1 if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = -1
    if not low <= number <= high:
        raise InvalidRun(f"{name}={value!r}: expected {expected}")
    return number


def _version() -> str:
    try:
        installed = version("c4env")
    except PackageNotFoundError:  # run from a checkout that was never installed
        installed = "unknown"
    return f"{installed}, Python {platform.python_version()}, NumPy {np.__version__}"
