"""Play games on workers through joblib: processes on this machine, threads, or a cluster.

Workers get batches of games and return records; they write no files. The identity of a game
determines its random numbers, so any worker may play the game at any time.

If a worker dies, or this project's own code fails in a worker, the batch is lost. The main process
then plays the games of the batch one at a time, with each third-party agent in its own process. An
agent that ends its own process twice in the same game forfeits the game.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import os
import pickle
import platform
import threading
import time
import uuid
import warnings
from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from typing import Any, Final

import joblib
import numpy as np
from joblib.parallel import get_active_backend

from c4env.agents.errors import Unavailable
from c4env.evaluation.errors import InvalidRun
from c4env.evaluation.games.backends import (
    CLUSTERS,
    as_they_end,
    on_this_machine,
    worker_death,
    workers_at,
)
from c4env.evaluation.games.processes import (
    OwnSettings,
    Worker,
    agents_own,
    current_folder,
    files_here,
    sigint_blocked,
    stdout_to_stderr,
)
from c4env.evaluation.plan.schedule import Fixture

from ...agents.base import Agent
from ...agents.registry.registry import split_spec
from ..plan.field import Player, is_language_model, make_player
from ..plan.identity import identify
from ..store.record import GameRecord
from ..store.transcripts import Transcripts
from .apart import Apart, is_foreign, names_code, register_all
from .game import Clock, Policy, in_words, play_game

BATCH_SECONDS: Final = 0.3  # intended duration of a task
MOST_GAMES: Final = 1000  # games in one task
APART: Final = 8  # the most agents with their own processes


@dataclasses.dataclass(frozen=True)
class RunSpec:
    """The data that each worker of a run needs, except the list of games."""

    field: Mapping[str, Player]
    seed: int
    clock: Clock | None = None
    # Names registered in the parent.
    registered: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    transcripts: Transcripts | None = None  # of language models, which play in threads
    shared: bool = False  # workers are threads, each of which needs its own copy of an object
    apart: bool = False  # each third-party agent plays in its own process
    version: str = ""
    # The working folder: a worker may have started in another one.
    folder: str | None = dataclasses.field(default_factory=current_folder)
    id: str = dataclasses.field(default_factory=lambda: uuid.uuid4().hex)

    def arrive(self) -> None:
        """Give this worker the working folder and the registered names of the main process."""
        if self.folder is not None and self.folder != current_folder():
            with suppress(OSError):  # another machine may not have that folder
                os.chdir(self.folder)
        register_all(self.registered)


@functools.cache  # an agent may clear sys.path, and then the version cannot be read
def version_here() -> str:
    """Return the versions of c4env, Python and NumPy, which all workers of a run must share."""
    try:
        installed = version("c4env")
    except PackageNotFoundError:  # run from a checkout that was never installed
        installed = "unknown"
    return f"{installed}, Python {platform.python_version()}, NumPy {np.__version__}"


def play_all(
    run: RunSpec,
    fixtures: Sequence[Fixture],
    jobs: int = 1,
    backend: str | None = None,
    address: str | None = None,
    made: dict[str, Agent] | None = None,
) -> Generator[GameRecord, None, None]:
    """Play games on workers; yield each game when it ends.

    Args:
        run: the data that workers need.
        fixtures: the games to play.
        jobs: number of workers. With 1 and no cluster, this process plays; but if a spec names
            third-party code and ``backend`` is None, a worker plays.
        backend: one of BACKENDS, or None for joblib's setting.
        address: a cluster's address; all its workers play.
        made: agents of the run that exist already, by name. This function empties the dictionary,
            and closes the agents.

    Raises:
        InvalidRun: an agent cannot be sent to a worker.
    """
    alone = jobs == 1 and backend not in CLUSTERS
    if backend == "serial" or (alone and (backend or not any(map(names_code, run.field.values())))):
        agent_cache.adopt(run, made or {})
        try:
            yield from (play_one(run, fixture) for fixture in fixtures)
        finally:
            agent_cache.clear()
        return
    close_agents(made or {})
    left = dict.fromkeys(fixtures)
    quarantined: set[str] = set()  # players that have ended their process
    with nullcontext() if backend is None else workers_at(backend, jobs, address):
        workers = -1 if address is not None else jobs
        deaths: tuple[type[BaseException], ...] = (BrokenExecutor, *worker_death(backend))
        if on_this_machine():  # an agent's code can make our code fail in its worker
            deaths = (*deaths, Exception)
        while trusted := [f for f in left if not quarantined.intersection(f[0])]:
            batches = _Batches(trusted, joblib.effective_n_jobs(workers))
            try:
                with closing(_from_pool(run, batches, workers)) as results:
                    for games, seconds in results:
                        batches.learn(len(games), seconds)
                        for game in games:
                            del left[game.fixture]
                            yield game
            except pickle.PicklingError as error:
                raise InvalidRun(
                    f"an agent cannot be sent to a worker ({error.__cause__ or error}); "
                    "give the agent by its import path, or play with jobs=1"
                ) from None
            except (InvalidRun, Unavailable):
                raise
            except deaths:
                suspects = [fixture for fixture in batches.given if fixture in left]
                with closing(_one_at_a_time(run, suspects, quarantined)) as lone:
                    for game in lone:
                        del left[game.fixture]
                        yield game
    yield from _one_at_a_time(run, list(left), quarantined)


class _Batches:
    """Split games into batches that each take about BATCH_SECONDS."""

    def __init__(self, fixtures: Sequence[Fixture], workers: int) -> None:
        self._fixtures = fixtures
        self._workers = workers
        self._size = 1
        self._count = 0

    @property
    def given(self) -> Sequence[Fixture]:
        """The games in all batches so far."""
        return self._fixtures[: self._count]

    def learn(self, games: int, seconds: float) -> None:
        """Adapt the size of later batches to the number of games and the seconds of a batch."""
        wanted = BATCH_SECONDS * games / max(seconds, 1e-9)
        self._size = max(1, int(min(wanted, 2 * self._size, MOST_GAMES)))

    def __iter__(self) -> Iterator[Sequence[Fixture]]:
        while left := len(self._fixtures) - self._count:
            # The last batches are small, so that all workers end at about the same time.
            size = max(1, min(self._size, left // (4 * self._workers)))
            self._count += size
            yield self._fixtures[self._count - size : self._count]


def _from_pool(
    run: RunSpec, batches: _Batches, jobs: int
) -> Generator[tuple[list[GameRecord], float], None, None]:
    """Play batches on joblib's workers; yield the games and the duration of each finished batch."""
    if on_this_machine():
        yield from as_they_end(play_batch, ((run, batch) for batch in batches), jobs)
        return
    backend, _ = get_active_backend()
    run = dataclasses.replace(run, shared=bool(getattr(backend, "uses_threads", False)))
    tasks = (joblib.delayed(play_batch)(run, batch) for batch in batches)
    if not backend.supports_return_generator:
        parallel = joblib.Parallel(n_jobs=jobs, batch_size=1)
        while some := list(islice(tasks, 4 * joblib.effective_n_jobs(jobs))):
            yield from parallel(some)
        return
    parallel = joblib.Parallel(n_jobs=jobs, batch_size=1, return_as="generator_unordered")
    with sigint_blocked():
        results: Any = parallel(tasks)
    try:
        # Not `yield from`, which would close the generator outside the filter below.
        for result in results:  # noqa: UP028
            yield result
    finally:
        # The run was stopped; another call may resume it.
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", r"(?s).*\d tasks (have|which)")
            results.close()


def _one_at_a_time(
    run: RunSpec, fixtures: Sequence[Fixture], quarantined: set[str]
) -> Generator[GameRecord, None, None]:
    """Play games in this process, with each third-party agent in its own process.

    If an agent ends its process, this function plays the game once more, in a new process. If the
    agent ends the new process too, the agent forfeits the game and joins ``quarantined``. A game
    with a quarantined agent is not repeated when the agent ends its process.
    """
    run = dataclasses.replace(run, apart=True, id=uuid.uuid4().hex)
    try:
        for fixture in fixtures:
            game = play_one(run, fixture)
            if game.ending == "crash" and _culprit(game) not in quarantined:
                game = play_one(run, fixture)
            if game.ending == "crash":
                quarantined.add(_culprit(game))
            yield game
    finally:
        agent_cache.clear()


def _culprit(game: GameRecord) -> str:
    """Return the name of the agent that forfeited a game."""
    assert game.forfeited_by is not None
    return game.players[game.forfeited_by]


# -- in the worker -----------------------------------------------------------------------


def play_batch(run: RunSpec, fixtures: Sequence[Fixture]) -> tuple[list[GameRecord], float]:
    """Play a batch of games; return the games and the seconds that they took."""
    if run.version != version_here():
        raise InvalidRun(
            f"a worker on {platform.node()} has c4env {version_here()}: "
            f"expected the same as the run, {run.version}"
        )
    run.arrive()
    started = time.perf_counter()
    games = []
    with _printing(run):
        before = files_here()
        for fixture in fixtures:
            games.append(play_one(run, fixture))
            if Worker.here and files_here() != before:
                os._exit(1)  # the process is damaged; another process plays the games again
    return games, time.perf_counter() - started


def _printing(run: RunSpec) -> AbstractContextManager[Any]:
    """Return a context that redirects agents' output to stderr, but does nothing in threads."""
    return nullcontext() if run.shared else stdout_to_stderr()


def play_one(run: RunSpec, fixture: Fixture) -> GameRecord:
    """Play one game between agents made in this process."""
    pair, opening = fixture
    first, second = (agent_cache.policy(run, name, seat) for seat, name in enumerate(pair))
    one, other = (agent_cache.own(run, name) for name in pair)
    if run.transcripts is not None:
        for policy in (first, second):
            if is_language_model(policy):
                policy.tape = run.transcripts.tape(fixture)
    return play_game((first, second), pair, opening, run.seed, run.clock, (one, other))


class AgentCache(threading.local):
    """The agents that this thread has made for the current run."""

    def __init__(self) -> None:
        self._run = ""
        self._made: dict[tuple[str, int], Policy] = {}
        self._own: dict[str, OwnSettings] = {}

    def policy(self, run: RunSpec, name: str, seat: int) -> Policy:
        """Return the agent of a player; a spec has one agent for each seat (0 or 1)."""
        player = run.field[name]
        if not isinstance(player, str) and not run.shared and not run.apart:
            return player
        if self._run != run.id:
            self.clear()
            self._run = run.id
        if (name, seat) not in self._made:
            self._made[name, seat] = self._make(run, name)
        elif run.apart:
            self._made[name, seat] = self._made.pop((name, seat))  # most recently used last
        return self._made[name, seat]

    def _make(self, run: RunSpec, name: str) -> Policy:
        player = run.field[name]
        movetime = run.clock.movetime if run.clock is not None else None
        if run.apart and is_foreign(player):
            if len(self._made) >= APART:
                close_agents({0: self._made.pop(next(iter(self._made)))})
            return Apart(player, movetime)
        if not isinstance(player, str):
            return copy.deepcopy(player) if run.shared else player
        with self.own(run, name):
            agent = make_player(player, movetime)
        if names_code(player):
            identify(player)  # this process may have imported code that was edited since
        return agent

    def own(self, run: RunSpec, name: str) -> OwnSettings:
        """Return the context for a player's process settings; players from one file share it."""
        player = run.field[name]
        code = split_spec(player)[0].rpartition(":")[0] if isinstance(player, str) else ""
        if (code or name) not in self._own:
            self._own[code or name] = OwnSettings(is_foreign(player) and not run.apart)
        return self._own[code or name]

    def adopt(self, run: RunSpec, made: dict[str, Agent]) -> None:
        """Move existing agents from a dictionary to this cache; they play as the first player."""
        self.clear()
        self._run = run.id
        while made:
            name, agent = made.popitem()
            self._made[name, 0] = agent

    def clear(self) -> None:
        """Close all agents."""
        close_agents(self._made)
        self._own.clear()


def close_agents(made: dict[Any, Any]) -> None:
    """Remove all agents from a dictionary and close them; warn if ``close`` raises an error."""
    while made:
        _, agent = made.popitem()
        if isinstance(agent, Agent):
            try:
                agent.close()
            except BaseException as error:
                if not agents_own(error):
                    raise
                warnings.warn(
                    f"{agent.name}: close() raised {in_words(error)}", RuntimeWarning, stacklevel=2
                )


agent_cache = AgentCache()
