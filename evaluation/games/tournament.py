"""Play a run, the scheduled games between agents, and store the games on disk."""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from c4env.arrays import Float64s
from c4env.errors import InvalidOption, Unavailable
from c4env.evaluation.tables import plural
from c4env.system import commit

from ...agents.spec import split_spec
from ..rating.ratings import Ratings, rate
from ..rating.tally import Tally, WinTable, costs
from ..store.header import Fixture, Kind, RunHeader, SprtPlan, in_short, version_here
from ..store.run_files import GameRecord, digest, games_table, open_games
from ..store.transcripts import Transcripts
from .clusters import play_elsewhere
from .field import Player, Players, Traits, as_players, describe_player, name_players, separate
from .players import RunSpec, Seats, do_all, play_one, team
from .settings import CLUSTERS, Openings, Settings, Watcher, choose_openings


class Frames(NamedTuple):
    """A run as pandas frames of raw values."""

    games: Any  # a row for each game
    ratings: Any  # a row for each agent, the strongest first
    table: Any  # a row for each pairing: first, second, games, wins, draws, losses, score


@dataclass(frozen=True)
class Tournament:
    """The played games of a run, with methods for the win table, the ratings and the digest.

    Attributes:
        header: the pairings, openings and settings.
        games: the games in the order of the schedule.

    Example:
        >>> result = round_robin(["greedy", "random"], openings=1)
        >>> len(result.games), result.digest
        (8, 'ffda7e9fca660ad2')
    """

    header: RunHeader
    games: tuple[GameRecord, ...]

    def __repr__(self) -> str:
        agents = ", ".join(self.players)
        return f"<{type(self).__name__}: {plural(len(self.games), 'game')} of {agents}>"

    @functools.cached_property
    def players(self) -> tuple[str, ...]:
        """The agents' names, in the order given."""
        played = (name for game in self.games for name in game.players)
        return tuple(dict.fromkeys([*self.header.players, *played]))

    @property
    def openings(self) -> tuple[str, ...]:
        """Move strings from which the games begin."""
        return self.header.openings

    @property
    def deterministic(self) -> tuple[str, ...]:
        """The agents known to give the same answer whenever they see the same position."""
        return self.header.deterministic

    @functools.cached_property
    def notes(self) -> tuple[str, ...]:
        """Notes on how the games were played and on missing games."""
        notes, planned = self.header.notes(), len(self.header.schedule())
        if self.header.sprt is None and len(self.games) < planned:
            done = f"{len(self.games)} of {planned} games"
            goes_on = "a command with all its agents and openings resumes the run"
            notes = (*notes, f"unfinished: {done}; {goes_on}")
        return notes

    @functools.cached_property
    def table(self) -> WinTable:
        """The win table: first players in rows, second players in columns, and totals."""
        return WinTable.of(self.games, self.players, self.notes)

    @functools.cached_property
    def ratings(self) -> Ratings:
        """The Elo and interval of each agent, the strongest first; the mean Elo is 0."""
        return self.rate()

    def rate(self, anchor: tuple[str, float] | None = None) -> Ratings:
        """Rate the agents, with the Elo of one agent fixed.

        Args:
            anchor: an agent and its Elo; without an anchor, the mean Elo is 0.
        """
        return rate(self._tally, self.deterministic, anchor).with_costs(costs(self.games))

    @functools.cached_property
    def _tally(self) -> Tally:
        return Tally.of(self.games, self.players)

    def payoffs(self) -> tuple[tuple[str, ...], Float64s]:
        """Return the agents, and their mean scores ``[N, N]``: row agent against column agent.

        A score is the points per game, 0..1, over both colours. The score is 1/2 on the diagonal,
        and nan if two agents did not meet. The matrix minus 0.5 is a zero-sum payoff matrix.
        """
        names, cell = self.players, self.table.cell
        found = [(cell(one, other) + ~cell(other, one)).score for one in names for other in names]
        scores = np.array(found, np.float64).reshape(len(names), len(names))  # nan for None
        np.fill_diagonal(scores, 0.5)
        return names, scores

    def frame(self) -> Frames:
        """The games, the ratings and the results of the pairings as pandas frames.

        Raises:
            MissingExtra: pandas is not installed.
        """
        return Frames(games_table(self.games).frame(), self.ratings.frame(), self.table.frame())

    def _repr_markdown_(self) -> str:
        return f"{self.ratings._repr_markdown_()}\n\n{self.table._repr_markdown_()}"

    @property
    def digest(self) -> str:
        """The hex digest of the games; it depends on the seed but not on the number of workers."""
        return digest(self.games)


def round_robin(
    players: Players,
    openings: Openings = 3,
    *,
    seed: int = 0,
    jobs: int = 1,
    out: str | Path | None = None,
    limit: int | None = None,
    movetime: float | None = None,
    margin: float = 0.1,
    backend: str | None = None,
    address: str | None = None,
    max_tokens: int | None = None,
    watch: Watcher | None = None,
    on_game: Callable[[GameRecord], None] | None = None,
) -> Tournament:
    """Play every pairing of agents from every opening, with both colours.

    Args:
        players: a list of specs (``"alphabeta:depth=5"``, or ``"mine=alphabeta:depth=5"`` with a
            name of your own) and callables on an observation (agents and functions, named by
            their ``name`` or ``__name__``); or a mapping from names to specs and callables.
        openings: a number of plies, for all positions after this number but no mirror images;
            ``"balanced:4,2"``; the path of a file; or a list of move strings. See
            :func:`c4env.evaluation.games.field.choose_openings`.
        seed, jobs, out, limit, movetime, margin, backend, address, max_tokens, watch, on_game: see
            :class:`c4env.evaluation.games.field.Settings`.

    Returns:
        the games, with their table, ratings and digest.

    Raises:
        InvalidOption: there are fewer than two agents, one occurs twice, or a number is invalid.
        UnreadableRun: ``out`` holds another run.
        Unwritable: another process is writing to ``out``.
        UnknownAgent: a spec is wrong, or its agent cannot be made.

    Example:
        >>> result = round_robin(["greedy", "random"], openings=1)
        >>> [rating.player for rating in result.ratings]
        ['greedy', 'random']
    """
    chosen = Settings(
        seed=seed, jobs=jobs, out=out, limit=limit, movetime=movetime, margin=margin,
        backend=backend, address=address, max_tokens=max_tokens, watch=watch, on_game=on_game,
    )  # fmt: skip
    starts = choose_openings(openings, chosen.seed, chosen.limit)
    field = name_players(players)
    if len(field) < 2:
        raise InvalidOption(f"{len(field)} agent(s) given: a round robin needs at least two")
    return _whole_run(prepare(field, starts, chosen))


def gauntlet(
    challengers: Players | Player,
    field: Players,
    openings: Openings = 3,
    *,
    seed: int = 0,
    jobs: int = 1,
    out: str | Path | None = None,
    limit: int | None = None,
    movetime: float | None = None,
    margin: float = 0.1,
    backend: str | None = None,
    address: str | None = None,
    max_tokens: int | None = None,
    watch: Watcher | None = None,
    on_game: Callable[[GameRecord], None] | None = None,
) -> Tournament:
    """Play every challenger against every opponent from every opening, with both colours.

    Args:
        challengers: one agent or several, in the forms of :func:`round_robin`; challengers do not
            meet each other.
        field: the opponents, which do not meet each other.
        openings: as in :func:`round_robin`.
        seed, jobs, out, limit, movetime, margin, backend, address, max_tokens, watch, on_game: see
            :class:`c4env.evaluation.games.field.Settings`.

    Raises:
        InvalidOption: a side has no agent, an agent occurs twice, or a number is invalid.
        UnreadableRun: ``out`` holds another run.
        Unwritable: another process is writing to ``out``.
        UnknownAgent: a spec is wrong, or its agent cannot be made.

    Example:
        >>> gauntlet("alphabeta", ["greedy", "random"], openings=0)
        <Tournament: 4 games of alphabeta, greedy, random>
    """
    chosen = Settings(
        seed=seed, jobs=jobs, out=out, limit=limit, movetime=movetime, margin=margin,
        backend=backend, address=address, max_tokens=max_tokens, watch=watch, on_game=on_game,
    )  # fmt: skip
    starts = choose_openings(openings, chosen.seed, chosen.limit)
    front = name_players(as_players(challengers))
    others = name_players(field)
    for name in others:
        if name in front:
            raise InvalidOption(f"agent {name!r} is both a challenger and in the field")
    if not front or not others:
        raise InvalidOption("a gauntlet needs a challenger and at least one agent in the field")
    return _whole_run(
        prepare({**front, **others}, starts, chosen, kind="gauntlet", challengers=tuple(front))
    )


def _whole_run(plan: Plan) -> Tournament:
    found = {game.fixture: game for game in play(plan)}
    return Tournament(plan.header, tuple(found[fixture] for fixture in plan.schedule))


class Plan(NamedTuple):
    """A run that is ready to play."""

    field: Mapping[str, Player]
    team: Sequence[Seats]  # the players of each thread
    traits: Mapping[str, Traits]
    schedule: Sequence[Fixture]
    settings: Settings
    header: RunHeader


def prepare(
    field: Mapping[str, Player],
    openings: Sequence[str],
    settings: Settings,
    kind: Kind = "round robin",
    challengers: tuple[str, ...] = (),
    sprt: SprtPlan | None = None,
) -> Plan:
    """Make the players of a run and return its plan; :func:`play` closes the players."""
    field = separate(field)
    most = max(1, len(openings) * len(field) * (len(field) - 1))  # games
    jobs = 1 if settings.backend else min(settings.jobs, most)
    players = team(field, settings.clock, jobs)
    try:
        known = {name: players[0].look(name) for name in field}
    except BaseException:
        for seats in players:
            seats.close()
        raise
    # A run directory compares this header with its own.
    header = RunHeader(
        kind=kind,
        players={name: describe_player(player) for name, player in field.items()},
        challengers=challengers,
        openings=tuple(openings),
        seed=settings.seed,
        c4env=version_here(),
        commit=commit(),
        deterministic=tuple(name for name, its in known.items() if its.deterministic),
        timed=tuple(name for name, its in known.items() if its.timed),
        code={name: dict(its.code) for name, its in known.items() if its.code},
        prompts={name: its.prompt for name, its in known.items() if its.prompt},
        movetime=settings.movetime,
        margin=None if settings.movetime is None else settings.margin,
        sprt=sprt,
    )
    return Plan(field, players, known, header.schedule(), settings, header)


def play(plan: Plan, ordered: bool = False) -> Generator[GameRecord, None, None]:
    """Play the games of a run; yield each game when it is over and written.

    Stored games come first, in the order of the schedule. Then the missing games are played.
    Closing the generator ends the players. Another call with the same ``out`` resumes the run.

    Args:
        plan: the run.
        ordered: whether to yield and write the games in the order of the schedule. The first n
            games are then the same with any number of jobs.

    Raises:
        Unavailable: a service that an agent needs does not answer, or ``max_tokens`` are used up.
        InvalidOption: language models cannot play with these settings.
    """
    schedule, settings = plan.schedule, plan.settings
    out = settings.out
    done = 0
    try:
        _check(settings, plan.header.prompts)
        with open_games(None if out is None else Path(out), plan.header) as file:
            kept = {game.fixture: game for game in file.entries}
            there = {fixture: kept[fixture] for fixture in schedule if fixture in kept}
            missing = [fixture for fixture in schedule if fixture not in there]
            done = len(there)
            if settings.watch is not None:
                settings.watch(done, len(schedule))
            with (
                _transcripts(plan, missing) as transcripts,
                closing(_play(plan, missing, transcripts)) as fresh,
            ):
                games = (
                    _in_order(fresh, schedule, there) if ordered else chain(there.values(), fresh)
                )
                for game in games:
                    new = game.fixture not in there
                    if new:
                        file.append(game.values())
                    done += new
                    if settings.on_game is not None:
                        settings.on_game(game)
                    if new and settings.watch is not None:
                        settings.watch(done, len(schedule))
                    yield game
    except Unavailable as error:
        fate = f"{done} of {len(schedule)} games are in {out}; the same command resumes the run"
        if out is None:
            fate = f"{plural(done, 'game')} lost; with --out DIR they are kept"
            fate = fate if done else "no game was over yet"
        raise Unavailable(f"{error}; {fate}") from None
    except KeyboardInterrupt as stop:
        if out is None and not stop.args:
            stop.args = (f"{plural(done, 'game')} lost; with --out DIR they are kept",)
        raise
    finally:
        for seats in plan.team:
            seats.close()


def _play(
    plan: Plan, fixtures: Sequence[Fixture], transcripts: Transcripts | None
) -> Generator[GameRecord, None, None]:
    run = RunSpec(plan.settings.seed, plan.settings.clock, transcripts)
    if plan.settings.backend in CLUSTERS and transcripts is None:
        yield from play_elsewhere(run, plan.field, fixtures, plan.settings)
        return
    yield from do_all(partial(play_one, run), fixtures, plan.team)


def _check(settings: Settings, prompts: Mapping[str, str]) -> None:
    if not prompts and settings.max_tokens is not None:
        raise InvalidOption(
            f"max_tokens={settings.max_tokens}: no agent of the field is a language model"
        )
    if prompts and settings.movetime is not None:
        raise InvalidOption(
            f"movetime={settings.movetime:g}: language models would forfeit on a slow network; "
            "expected movetime= only in the specs of other agents"
        )


_PATIENCE: Final = ("retries", "timeout")
"""Options of language models that change the number of requests, but not the answers."""


def _transcripts(
    plan: Plan, missing: Sequence[Fixture]
) -> AbstractContextManager[Transcripts | None]:
    """Return the transcripts of a run, or None if no player is a language model."""
    if not plan.header.prompts:
        return nullcontext()
    out = plan.settings.out
    folder = None if out is None else Path(out)
    asked = {}
    for name, prompt in plan.header.prompts.items():
        _, options = split_spec(plan.header.players[name])
        said_by = {key: value for key, value in options.items() if key not in _PATIENCE}
        asked[name] = in_short({**said_by, **plan.header.code.get(name, {})}, prompt)
    return closing(Transcripts(folder, asked, missing, plan.settings.max_tokens))


def _in_order(
    games: Iterator[GameRecord], schedule: Sequence[Fixture], there: Mapping[Fixture, GameRecord]
) -> Iterator[GameRecord]:
    """Yield stored and new games in the order of the schedule."""
    early = dict(there)
    for fixture in schedule:
        while fixture not in early:
            game = next(games)
            early[game.fixture] = game
        yield early.pop(fixture)
