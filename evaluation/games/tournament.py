"""Runs: lists of games between the agents of a field, played by workers and kept on disk."""

from __future__ import annotations

import functools
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agents.errors import Unavailable
from agents.zoo.registry import registered_here
from evaluation.errors import InvalidRun, UnreadableRun
from evaluation.games.processes import one_interrupt
from evaluation.games.settings import Settings
from evaluation.games.workers import Orders, dismiss_processes, play_all, version_here
from evaluation.plan.field import (
    Player,
    Players,
    Traits,
    code_of,
    describe_player,
    name_players,
    traits,
)
from evaluation.plan.openings import Openings, choose_openings
from evaluation.plan.schedule import Fixture, gauntlet_order, opening_major
from evaluation.store.record import GameFile, GameRecord, digest
from evaluation.store.transcripts import Transcripts
from evaluation.strength.ratings import Ratings, rate
from evaluation.strength.wintable import WinTable


@dataclass(frozen=True)
class Tournament:
    """What a round robin or a gauntlet found.

    Attributes:
        players: the agents' names, in the order given.
        openings: move strings the games began from.
        games: one record a game, in the order of the schedule.
        deterministic: the agents known to answer the same position always alike.
        notes: what a reader must know of how the games were played.
    """

    players: tuple[str, ...]
    openings: tuple[str, ...]
    games: tuple[GameRecord, ...]
    deterministic: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @functools.cached_property
    def table(self) -> WinTable:
        """First player in rows against second player in columns, and totals."""
        return WinTable.of(self.games, self.players, self.notes)

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
            :func:`evaluation.plan.openings.choose_openings`.
        settings: ``seed``, ``jobs``, ``out``, ``watch``, ...: see :class:`Settings`.

    Raises:
        InvalidRun: fewer than two agents, one twice, or a bad number.
        UnreadableRun: ``out`` holds something else.
        UnknownAgent, UnknownOption, ...: a spec is wrong.
    """
    chosen = Settings.of("round_robin", settings)
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
    chosen = Settings.of("gauntlet", settings)
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
    known = traits(field, settings.movetime)
    header = header_of(field, openings, settings, known, about)
    fresh = _play(field, schedule, settings, header, known)
    found = {game.fixture: game for game in fresh}
    games = tuple(found[fixture] for fixture in schedule)
    return Tournament(tuple(field), tuple(openings), games, known.deterministic, notes_of(header))


def header_of(
    field: Mapping[str, Player],
    openings: Sequence[str],
    settings: Settings,
    known: Traits,
    about: Mapping[str, Any],
) -> dict[str, Any]:
    """All that must be the same for a run to go on: what is played, by whom, and how."""
    header = {
        "players": {name: describe_player(player) for name, player in field.items()},
        "deterministic": list(known.deterministic),
        "openings": list(openings),
        "seed": settings.seed,
        "c4env": version_here(),
        **about,
    }
    optional = {"timed": list(known.timed), "code": code_of(field)}
    header.update({key: value for key, value in optional.items() if value})
    if known.prompts:
        header["prompts"] = dict(known.prompts)
    if settings.movetime is not None:
        header.update(movetime=settings.movetime, margin=settings.margin)
    return header


def notes_of(header: Mapping[str, Any]) -> tuple[str, ...]:
    """What a reader of a run's table must know of how its games were played."""
    notes = []
    if "movetime" in header:
        notes.append(
            f"{header['movetime']:g} s a move, and a margin of {header['margin']:g} s; "
            "a move that takes longer forfeits."
        )
    if "timed" in header:
        notes.append(f"The clock decides how far these look: {', '.join(header['timed'])}.")
    if notes:
        notes.append("Timed runs do not repeat exactly.")
    return tuple(notes)


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
        field: players by name (:func:`evaluation.plan.field.name_players`).
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
    known = traits(field, settings.movetime)
    header = header_of(field, openings, settings, known, about or {})
    return _play(field, schedule, settings, header, known, ordered)


def _play(
    field: Mapping[str, Player],
    schedule: Sequence[Fixture],
    settings: Settings,
    header: dict[str, Any],
    known: Traits,
    ordered: bool = False,
) -> Generator[GameRecord, None, None]:
    orders = Orders(field, settings.seed, settings.clock, registered_here(), version=version_here())
    out = settings.out
    backend = _backend(settings, known)
    with (
        ExitStack() as stack,
        one_interrupt(),
        GameFile(Path(out), header) if out is not None else nullcontext() as file,
    ):
        there = {game.fixture: game for game in file.games} if file is not None else {}
        missing = [fixture for fixture in schedule if fixture not in there]
        if strays := there.keys() - set(schedule):
            raise UnreadableRun(f"{out} holds a game of another run: {strays.pop()}")
        done = len(schedule) - len(missing)
        if settings.watch is not None:
            settings.watch(done, len(schedule))
        yield from (there[fixture] for fixture in schedule if fixture in there)
        del there
        if known.prompts:
            talk = Transcripts(Path(out) if out else None, missing, settings.max_tokens)
            orders = replace(orders, transcripts=stack.enter_context(talk))
        workers = play_all(orders, missing, settings.jobs, backend, settings.address)
        try:
            with closing(workers) as fresh:
                for game in _in_order(fresh, missing) if ordered else fresh:
                    if file is not None:
                        file.append(game)
                    done += 1
                    if settings.watch is not None:
                        settings.watch(done, len(schedule))
                    yield game
        except Unavailable as error:
            where = f"are in {out}, and the same command goes on" if out else "are not kept"
            raise Unavailable(f"{error}; {done} of {len(schedule)} games {where}") from None
        finally:
            if known.holding:
                dismiss_processes()


def _backend(settings: Settings, known: Traits) -> str | None:
    """Where to play: language models in threads, where many games can wait at once.

    Raises:
        InvalidRun: they were to play elsewhere or by a clock, or tokens were to be counted
            and there are none.
    """
    if not known.prompts:
        if settings.max_tokens is not None:
            raise InvalidRun(
                f"max_tokens={settings.max_tokens}: no agent of the field is a language model"
            )
        return settings.backend
    if settings.movetime is not None:
        raise InvalidRun(
            f"movetime={settings.movetime:g}: a slow network would lose the games of language "
            "models: expected movetime= in the specs of the others"
        )
    if settings.backend not in (None, "threading", "serial"):
        raise InvalidRun(
            f"backend={settings.backend!r}: language models play in threads of this process, "
            "so that their answers are kept: expected threading or serial"
        )
    return settings.backend or "threading"


def _in_order(games: Iterator[GameRecord], schedule: Sequence[Fixture]) -> Iterator[GameRecord]:
    """The games in the order of the schedule, each as soon as it and all before it are there."""
    early: dict[Fixture, GameRecord] = {}
    for fixture in schedule:
        while fixture not in early:
            game = next(games)
            early[game.fixture] = game
        yield early.pop(fixture)
