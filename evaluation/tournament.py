"""The round robin: every pairing over enumerated openings with both colours."""

from __future__ import annotations

import functools
import platform
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

import joblib
import numpy as np

import agents
from agents.base import Agent
from agents.registry import FunctionAgent, registered_here
from c4env.position import Position
from evaluation.errors import InvalidRun, WorkerDied
from evaluation.match import Policy, play_game
from evaluation.openings import enumerate_openings
from evaluation.ratings import Rating, rate
from evaluation.record import GameFile, GameRecord, digest
from evaluation.schedule import opening_major
from evaluation.wintable import WinTable

Player = str | Callable[..., Any]
Watcher = Callable[[int, int], None]

MAX_SEED: Final = 2**63 - 1


@dataclass(frozen=True)
class RoundRobin:
    """What a round robin found.

    Attributes:
        players: the agents' names, in the order given.
        openings: move strings the games began from.
        games: one record a game, in the order of the schedule.
    """

    players: tuple[str, ...]
    openings: tuple[str, ...]
    games: tuple[GameRecord, ...]

    @functools.cached_property
    def table(self) -> WinTable:
        """First player in rows against second player in columns, and totals."""
        return WinTable.of(self.games, self.players)

    @functools.cached_property
    def ratings(self) -> list[Rating]:
        """Elo of each agent, the strongest first."""
        return rate(self.games, self.players)

    @property
    def digest(self) -> str:
        """Hex digest of the games: equal for equal seeds, whatever the workers."""
        return digest(self.games)


def round_robin(
    players: Sequence[Player] | Mapping[str, Player],
    openings: int | Sequence[str] = 2,
    seed: int = 0,
    jobs: int = 1,
    out: str | Path | None = None,
    watch: Watcher | None = None,
) -> RoundRobin:
    """Play every pairing of agents over the openings, each with both colours.

    Args:
        players: spec strings (``"alphabeta:depth=5"``), or callables on an observation
            (agents, functions) named by their ``name`` or ``__name__``; or a mapping from
            names to either.
        openings: a number of plies, for all mirror-reduced positions after so many, or
            the move strings themselves.
        seed: the same seed gives the same games for any number of jobs.
        jobs: worker processes (joblib; wrap the call in ``joblib.parallel_config`` for
            another backend). Callables must then be picklable.
        out: a run directory. Games are written there as they end; a repeated call plays
            only those that are missing.
        watch: called with games done and games in all, now and then.

    Raises:
        InvalidRun: fewer than two agents, one twice, or a bad number.
        UnreadableRun: ``out`` holds something else.
        UnknownAgent, UnknownOption, ...: a spec is wrong.
    """
    field = _named(players)
    names = tuple(field)
    starts = _check_openings(openings)
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= MAX_SEED:
        raise InvalidRun(f"seed={seed!r}: expected an integer 0..2**63-1")
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1:
        raise InvalidRun(f"jobs={jobs!r}: expected a number of processes, at least 1")
    for player in field.values():
        if isinstance(player, str):
            agents.make(player)  # an error now rather than in a worker; compiles what is new
    schedule = opening_major(names, starts)
    header = {
        "players": {
            name: player if isinstance(player, str) else f"<{_title(player)}>"
            for name, player in field.items()
        },
        "openings": starts,
        "seed": seed,
        "c4env": _version(),
    }
    with GameFile(Path(out), header) if out is not None else nullcontext() as file:
        done = {game.key: game for game in file.games} if file is not None else {}
        missing = [(pair, opening) for pair, opening in schedule if (*pair, opening) not in done]
        mine = registered_here() if jobs > 1 else {}
        tasks = [
            ((field[pair[0]], field[pair[1]]), pair, opening, seed, mine)
            for pair, opening in missing
        ]
        if watch is not None:
            watch(len(done), len(schedule))
        try:
            for game in _played(tasks, jobs):
                if file is not None:
                    file.append(game)
                done[game.key] = game
                if watch is not None:
                    watch(len(done), len(schedule))
        except BrokenExecutor:
            raise WorkerDied(
                f"a worker process died after {len(done)} of {len(schedule)} games; those are "
                "kept where a run directory was named, and --jobs 1 shows which agent it is"
            ) from None
    return RoundRobin(
        names, tuple(starts), tuple(done[(*pair, opening)] for pair, opening in schedule)
    )


def _played(tasks: Sequence[tuple[Any, ...]], jobs: int) -> Iterator[GameRecord]:
    """The games as they end; the first is played here while the workers start."""
    if jobs == 1 or len(tasks) < 2:
        yield from (_play(*task) for task in tasks)
        return
    others = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered")(
        joblib.delayed(_play)(*task) for task in tasks[1:]
    )
    try:
        yield _play(*tasks[0])
        yield from others
    finally:
        with warnings.catch_warnings():  # of a run that is stopped: the games go on another time
            warnings.filterwarnings("ignore", ".*tasks which were still being processed")
            others.close()


def _play(
    pair: tuple[Player, Player],
    names: tuple[str, str],
    opening: str,
    seed: int,
    registered: Mapping[str, Any],
) -> GameRecord:
    """One game, in whatever process: agents are built from their specs here."""
    for name, agent in registered.items():
        agents.register(name, agent, replace=True)
    return play_game((_policy(pair[0], 0), _policy(pair[1], 1)), names, opening, seed)


def _policy(player: Player, seat: int) -> Policy:
    return _made(player, seat) if isinstance(player, str) else player


@functools.lru_cache(maxsize=64)
def _made(spec: str, seat: int) -> Agent:
    """An agent of this process; one a seat, since the two sides of a game share nothing."""
    return agents.make(spec)


def _named(players: Sequence[Player] | Mapping[str, Player]) -> dict[str, Player]:
    """Players by their names in the table."""
    if isinstance(players, str):
        raise InvalidRun(f"players={players!r}: expected a list of at least two agents")
    pairs = (
        list(players.items())
        if isinstance(players, Mapping)
        else [(player if isinstance(player, str) else _title(player), player) for player in players]
    )
    field: dict[str, Player] = {}
    for name, player in pairs:
        if name in field:
            raise InvalidRun(f"agent {name!r} is given twice; in a mapping each has its own name")
        if isinstance(player, type):
            raise InvalidRun(f"agent {name!r} is a class: pass an instance or its import path")
        if not isinstance(player, str) and not callable(player):
            raise InvalidRun(f"agent {name!r}: {player!r} is neither a spec nor callable")
        field[name] = player
    if len(field) < 2:
        raise InvalidRun(f"{len(field)} agent(s) given: a round robin needs at least two")
    return field


def _title(player: Callable[..., Any]) -> str:
    if isinstance(player, FunctionAgent | Agent) and player.name:
        return player.name
    return getattr(player, "__name__", type(player).__name__)


def _check_openings(openings: int | Sequence[str]) -> list[str]:
    if isinstance(openings, int | np.integer):
        return enumerate_openings(int(openings) if not isinstance(openings, bool) else openings)
    starts = [openings] if isinstance(openings, str) else list(openings)
    if not starts:
        raise InvalidRun("openings: expected at least one")
    for moves in starts:
        if Position.parse(moves).outcome is not None:
            raise InvalidRun(f"opening {moves!r}: the game is over after it")
    if len(set(starts)) < len(starts):
        raise InvalidRun("openings: one is given twice")
    return starts


def _version() -> str:
    try:
        installed = version("c4env")
    except PackageNotFoundError:  # run from a checkout that was never installed
        installed = "unknown"
    return f"{installed}, Python {platform.python_version()}, NumPy {np.__version__}"
