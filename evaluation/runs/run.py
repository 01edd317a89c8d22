"""Play a run: its settings, its plan, and the games that its directory lacks.

    make_plan  makes the players, and the plan with the schedule and the header of ``run.json``
    play_plan  yields the stored games, then plays the missing games in threads or on a cluster
    play_all   plays a run to its end

A :class:`Course` says which games come next: all games of a schedule (:class:`Schedule`), or, as in
a placement, the games that the results so far suggest.
"""

from __future__ import annotations

import functools
import hashlib
import numbers
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from c4env.agents.making.options import DAY
from c4env.agents.making.spec import written_files
from c4env.errors import AgentChanged, InvalidOption, Unavailable, require_integer
from c4env.evaluation.progress import ProgressCallback
from c4env.evaluation.records.game import GameRecord
from c4env.evaluation.records.header import Fixture, Kind, RunHeader, SprtPlan, versions
from c4env.evaluation.records.run_folder import open_games
from c4env.evaluation.runs.cluster import GamesTask, require_engine, spread
from c4env.evaluation.runs.play_game import Clock
from c4env.evaluation.runs.players import Players, Traits, describe_player, without_shared_objects
from c4env.evaluation.runs.referee import Referee, map_in_threads, referees
from c4env.evaluation.tables import plural
from c4env.openings import Openings as Openings
from c4env.openings import list_openings
from c4env.system import COMMAND, commit


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of a run: keywords of ``round_robin``, ``gauntlet`` and ``play_match``.

    Attributes:
        seed: seed of the openings' order and of stochastic agents; the games depend on nothing
            else. The same seed gives the same games for any number of jobs.
        jobs: number of games that are played at a time; it does not change the games. A job
            plays this project's agents in one process; the first job of a run without a clock
            plays them in this process. A job has a separate process for each spec that names
            other people's code. Python objects play in threads of this process, and share one
            interpreter. A job has its own copy of each object. A function that has a ``reset``
            cannot be copied.
        out: directory that keeps each game when it ends; the same call resumes the run, and a call
            with more agents or openings adds games.
        watch: called from time to time with the number of games done and the total.
        on_game: called with each stored or finished game, before ``watch`` counts the game.
        limit: number of openings to play, drawn by the seed. A list of openings keeps its order.
            None plays all openings.
        movetime: seconds per move. Agents with an option ``movetime`` obey this limit, unless their
            spec sets another limit. A move that takes longer than ``movetime + margin`` forfeits
            the game. The time to make or reset an agent has no limit.
        margin: seconds by which a move may exceed movetime.
        again: play the forfeited games in ``out`` again, for example on a repaired machine. The old
            lines stay in the file, and the new games count.
        backend: play on a cluster: dask or ray. None plays on this machine. The games of each
            worker are written in batches, about every ten seconds.
        address: address of the cluster, all of whose workers play. Without an address, dask and
            ray start ``jobs`` workers on this machine.

    Raises:
        InvalidOption: a setting has a wrong type or value.
    """

    seed: int = 0
    jobs: int = 1
    out: str | Path | None = None
    watch: ProgressCallback | None = None
    on_game: Callable[[GameRecord], None] | None = None
    limit: int | None = None
    movetime: float | None = None
    margin: float = 0.1
    again: bool = False
    backend: str | None = None
    address: str | None = None

    def __post_init__(self) -> None:
        put = functools.partial(object.__setattr__, self)
        high = 2**63 - 1
        put("seed", require_integer("seed", self.seed, 0, "an integer 0..2**63-1", high=high))
        for name, noun in (("jobs", "games"), ("limit", "openings")):
            value = getattr(self, name)
            if name == "jobs" or value is not None:
                put(name, require_integer(name, value, 1, f"a number of {noun}, at least 1"))
        put("margin", _seconds("margin", self.margin, "at least 0"))
        if self.movetime is not None:
            put("movetime", _seconds("movetime", self.movetime, "more than 0"))
        if type(self.again) is not bool:
            raise InvalidOption(f"again={self.again!r}: expected True or False")
        if self.backend is not None or self.address is not None:
            require_engine(self.backend, self.address)
        if self.out is not None:
            if not str(self.out).strip():
                raise InvalidOption(f"out={self.out!r}: expected the name of a directory")
            put("out", Path(self.out))

    @property
    def clock(self) -> Clock | None:
        """The time limit of a move, or None without a limit."""
        return None if self.movetime is None else Clock(self.movetime, self.margin)


def _seconds(name: str, value: Any, least: str) -> float:
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= DAY or (value == 0 and least == "more than 0"):
        raise InvalidOption(
            f"{name}={value!r}: expected a number of seconds, {least} and at most {DAY:g}"
        )
    return float(value)


def choose_openings(openings: Openings, seed: int = 0, limit: int | None = None) -> list[str]:
    """Return the openings of a run, as move strings of 1-based columns.

    Deterministic agents repeat the same game from the same position, so a run uses each position
    only once, in one order of the moves.

    Args:
        openings: as for :func:`c4env.list_openings`.
        seed: the seed that shuffles the openings. A list is not shuffled.
        limit: the most openings to take after shuffling; all if not given.

    Raises:
        InvalidOption: as for :func:`c4env.list_openings`.
    """
    chosen = list_openings(openings)
    if isinstance(openings, str) or not isinstance(openings, Sequence):
        chosen = shuffled(chosen, seed)
    return chosen[:limit]


def shuffled(openings: Sequence[str], seed: int) -> list[str]:
    """Return the openings in a pseudo-random order, by a hash of the seed and the opening.

    The order of two openings does not depend on the other openings in the list.
    """
    return sorted(openings, key=lambda m: hashlib.sha256(f"{seed} {m}".encode()).digest())


class Course(Protocol):
    """The rule that chooses the next games of a run. The choice depends only on the games."""

    @property
    def games(self) -> int:
        """The number of games of the run, at most."""
        ...

    def played(self, known: Mapping[Fixture, GameRecord]) -> tuple[list[GameRecord], list[Fixture]]:
        """Return the known games that belong to the run, in its order, and what to play next.

        The fixtures to play may be played at the same time. At the end of the run the list is
        empty.
        """
        ...


class Schedule(NamedTuple):
    """The course of a run whose games do not depend on each other."""

    fixtures: Sequence[Fixture]

    @property
    def games(self) -> int:
        """The number of games of the run."""
        return len(self.fixtures)

    def played(self, known: Mapping[Fixture, GameRecord]) -> tuple[list[GameRecord], list[Fixture]]:
        """Return the known games, and the fixtures of the missing games."""
        games = [known[fixture] for fixture in self.fixtures if fixture in known]
        return games, [fixture for fixture in self.fixtures if fixture not in known]


class Plan(NamedTuple):
    """A run that is ready to play."""

    header: RunHeader
    settings: Settings
    referees: Sequence[Referee]  # one for each thread
    traits: Mapping[str, Traits]  # of each player
    course: Course


def make_plan(
    players: Players,
    openings: Sequence[str],
    settings: Settings,
    kind: Kind = "round robin",
    challengers: tuple[str, ...] = (),
    sprt: SprtPlan | None = None,
    course: Course | None = None,
) -> Plan:
    """Make the players of a run and return its plan; :func:`play_plan` closes the players.

    Without a course, the run has all games of the header's schedule.
    """
    players = without_shared_objects(players)
    if settings.backend is not None:
        for name, player in players.items():
            for option, file in written_files(player).items():
                raise InvalidOption(
                    f"backend={settings.backend!r}: agent {name!r} writes {option}={file}, which "
                    "other machines do not see: expected no backend, or the agent without this file"
                )
    most_games = max(1, len(openings) * len(players) * (len(players) - 1))
    jobs = 1 if settings.backend else min(settings.jobs, most_games)
    team = referees(players, settings.clock, settings.seed, jobs)
    try:
        traits = {name: team[0].traits(name) for name in players}
    except BaseException:
        for referee in team:
            referee.close()
        raise
    # A run directory compares this header with its own.
    header = RunHeader(
        kind=kind,
        players={name: describe_player(player) for name, player in players.items()},
        challengers=challengers,
        openings=tuple(openings),
        seed=settings.seed,
        c4env=versions(),
        commit=commit(),
        command=COMMAND.get(),
        deterministic=tuple(name for name in players if traits[name].deterministic),
        timed=tuple(name for name in players if traits[name].timed),
        code={name: dict(traits[name].code) for name in players if traits[name].code},
        movetime=settings.movetime,
        margin=None if settings.movetime is None else settings.margin,
        sprt=sprt,
    )
    return Plan(header, settings, team, traits, course or Schedule(header.schedule()))


def play_plan(plan: Plan, ordered: bool = False) -> Generator[GameRecord, None, None]:
    """Play the games of a run; yield each game when it is over and written.

    Stored games come first, in the order of the run. Then the missing games are played. Close the
    generator to end the players. A later call with the same ``out`` resumes the run.

    Args:
        plan: the run.
        ordered: whether to yield and write the games in the order of the header's schedule. The
            first n games are then the same with any number of jobs.

    Raises:
        Unavailable: a service that an agent needs does not answer.
        AgentChanged: an agent's code was loaded again, and has changed.
    """
    settings, course, done = plan.settings, plan.course, 0
    out = None if settings.out is None else Path(settings.out)
    try:
        with open_games(out, plan.header) as file:
            known = {game.fixture: game for game in file.entries}
            if settings.again:
                known = {f: game for f, game in known.items() if game.forfeited_by is None}
            stored, _ = course.played(known)
            old = {game.fixture for game in stored}
            done = len(stored)
            if settings.watch is not None:
                settings.watch(done, course.games)
            with closing(_new_games(plan, known)) as new_games:
                games = chain(stored, new_games)
                for game in _in_order(games, plan.header.schedule()) if ordered else games:
                    is_new = game.fixture not in old
                    if is_new:
                        file.append(game.values())
                        done += 1
                    if settings.on_game is not None:
                        settings.on_game(game)
                    if is_new and settings.watch is not None:
                        settings.watch(done, course.games)
                    yield game
    except Unavailable as error:
        if out is not None:
            how = "with the old files the same" if isinstance(error, AgentChanged) else "the same"
            fate = f"{done} of {course.games} games are in {out}; {how} command resumes the run"
        else:
            fate = _lost(done) if done else "no game was over yet"
        raise type(error)(f"{error}; {fate}") from None
    except KeyboardInterrupt as stop:
        if out is None and not stop.args:
            stop.args = (_lost(done),)
        raise
    finally:
        for referee in plan.referees:
            referee.close()


def play_all(plan: Plan) -> tuple[GameRecord, ...]:
    """Play the games of a run, and return all games in the order of the run."""
    games = {game.fixture: game for game in play_plan(plan)}
    return tuple(plan.course.played(games)[0])


def _lost(games: int) -> str:
    return f"{plural(games, 'game')} lost; with --out DIR they are kept"


def _new_games(plan: Plan, known: dict[Fixture, GameRecord]) -> Generator[GameRecord, None, None]:
    """Play the next games until the course ends; add each game to the known games."""
    while fixtures := plan.course.played(known)[1]:
        games: Generator[GameRecord, None, None]
        if (backend := plan.settings.backend) is None:
            games = map_in_threads(Referee.play, fixtures, plan.referees)
        else:
            task = GamesTask.of(plan.referees[0], plan.traits, plan.header.format())
            games = spread(task, fixtures, backend, plan.settings.address, plan.settings.jobs)
        with closing(games):
            for game in games:
                known[game.fixture] = game
                yield game


def _in_order(games: Iterator[GameRecord], schedule: Sequence[Fixture]) -> Iterator[GameRecord]:
    """Yield games in the order of the schedule."""
    early: dict[Fixture, GameRecord] = {}
    for fixture in schedule:
        while fixture not in early:
            game = next(games)
            early[game.fixture] = game
        yield early.pop(fixture)
