"""Plays games on workers: processes of this machine, threads, or a cluster, through joblib.

Workers get batches of games and send back records; they write nothing. Every game's
randomness comes from its own identity, so who plays it, and when, makes no difference.

A worker that dies takes its batch with it. The games that were under way are then played
one at a time in a process of their own: the one that ends its process again is known, and
so is the side whose turn it was, which forfeits.
"""

from __future__ import annotations

__any_board__ = True

import copy
import dataclasses
import os
import pickle
import platform
import re
import tempfile
import threading
import time
import uuid
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import AbstractContextManager, closing, nullcontext
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from pathlib import Path
from typing import Any, Final

import joblib
import numpy as np
from c4env.agents.base import Agent
from c4env.evaluation.errors import InvalidRun, WorkerDied
from c4env.evaluation.games.backends import CLUSTERS, worker_death, workers_at
from c4env.evaluation.games.game import Clock, Policy, in_words, play_game
from c4env.evaluation.games.processes import (
    agents_own,
    exit_with_parent,
    quiet_shutdown,
    sigint_blocked,
    stdout_to_stderr,
)
from c4env.evaluation.plan.field import Player, is_language_model, make_player
from c4env.evaluation.plan.schedule import Fixture
from c4env.evaluation.store.record import GameRecord
from c4env.evaluation.store.transcripts import Transcripts
from joblib.externals.loky import ProcessPoolExecutor, get_reusable_executor
from joblib.parallel import get_active_backend

from c4env import agents

BATCH_SECONDS: Final = 0.3  # of games in one task: much beside its cost, little to lose
MOST_GAMES: Final = 1000  # in one task


@dataclasses.dataclass(frozen=True)
class RunSpec:
    """What a worker must know besides which games to play."""

    field: Mapping[str, Player]
    seed: int
    clock: Clock | None = None
    # Names given in the parent.
    registered: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    transcripts: Transcripts | None = None  # of language models, which play in threads
    shared: bool = False  # threads, which must not play with one object at once
    version: str = ""
    id: str = dataclasses.field(default_factory=lambda: uuid.uuid4().hex)


def version_here() -> str:
    """What must be the same wherever games of one run are played."""
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
    """The games as they end.

    Args:
        run: what the workers must know.
        fixtures: the games.
        jobs: workers; with one and no cluster the games are played here.
        backend: one of BACKENDS, ``serial``, or None for the one joblib is set to.
        address: of a cluster; all its workers are used.
        made: agents of the run that were made already; they are taken out, used and closed.

    Raises:
        WorkerDied: a worker died for another reason than an agent's move.
        InvalidRun: an agent cannot be sent to a worker.
    """
    if backend == "serial" or (jobs == 1 and backend not in CLUSTERS):
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
                    "give it by its import path, or play with jobs=1"
                ) from None
            except deaths:
                suspects = [fixture for fixture in batches.given if fixture in left]
                with closing(_one_at_a_time(run, suspects, quarantined)) as lone:
                    for game in lone:
                        del left[game.fixture]
                        yield game
    yield from _one_at_a_time(run, list(left), quarantined)


class _Batches:
    """Hands out games in tasks that take a fraction of a second each."""

    def __init__(self, fixtures: Sequence[Fixture], workers: int) -> None:
        self._fixtures = fixtures
        self._workers = workers
        self._size = 1
        self._count = 0

    @property
    def given(self) -> Sequence[Fixture]:
        """The games handed out so far."""
        return self._fixtures[: self._count]

    def learn(self, games: int, seconds: float) -> None:
        """So many games of a task took so long."""
        wanted = BATCH_SECONDS * games / max(seconds, 1e-9)
        self._size = max(1, int(min(wanted, 2 * self._size, MOST_GAMES)))

    def __iter__(self) -> Iterator[Sequence[Fixture]]:
        while left := len(self._fixtures) - self._count:
            # The last ones are small, so that all workers end at about the same time.
            size = max(1, min(self._size, left // (4 * self._workers)))
            self._count += size
            yield self._fixtures[self._count - size : self._count]


# A worker that was idle for long is replaced by a fresh one: no game is lost. It is said in a
# thread of the pool's own, which an error would end.
warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)


def _from_pool(
    run: RunSpec, batches: _Batches, jobs: int
) -> Generator[tuple[list[GameRecord], float], None, None]:
    """Games and seconds of each task as it ends, from the backend joblib is set to."""
    backend, _ = get_active_backend()
    threads = bool(getattr(backend, "uses_threads", False))
    run = dataclasses.replace(run, shared=threads)
    tasks = (joblib.delayed(play_batch)(run, batch) for batch in batches)
    options: dict[str, Any] = {}
    if type(backend).__name__ == "LokyBackend":
        # No array of an agent is mapped into memory that it may not write to (max_nbytes).
        options = {"max_nbytes": None, "initializer": exit_with_parent, "initargs": (os.getpid(),)}
    if not backend.supports_return_generator:
        parallel = joblib.Parallel(n_jobs=jobs, batch_size=1)
        while some := list(islice(tasks, 4 * joblib.effective_n_jobs(jobs))):
            yield from parallel(some)
        return
    yield from as_they_end(tasks, jobs, **options)


def as_they_end(tasks: Iterable[Any], jobs: int, **options: Any) -> Generator[Any, None, None]:
    """What joblib's tasks return, in any order; closed, it stops them.

    Args:
        tasks: made by ``joblib.delayed``.
        jobs: workers.
        options: of ``joblib.Parallel`` besides.
    """
    parallel = joblib.Parallel(
        n_jobs=jobs, batch_size=1, return_as="generator_unordered", **options
    )
    results: Any = None
    if type(get_active_backend()[0]).__name__ == "LokyBackend":
        _Processes.used = True
    try:
        with sigint_blocked():
            results = parallel(tasks)
        # Not `yield from`, which would close it outside the filter below.
        for result in results:  # noqa: UP028
            yield result
    finally:
        # Of a run that is stopped: it goes on another time.
        with quiet_shutdown(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", r"(?s).*\d tasks (have|which)")
            if results is not None:
                results.close()


def _one_at_a_time(
    run: RunSpec, suspects: Sequence[Fixture], quarantined: set[str]
) -> Generator[GameRecord, None, None]:
    """Play games one by one in a process of their own, and find those that end it.

    A game that ends its process is tried once more, in a fresh one, and then given up as lost
    for the side whose turn it was, which is added to ``quarantined``.
    """
    waiting = deque(suspects)
    tried: set[Fixture] = set()
    with tempfile.TemporaryDirectory() as folder:
        note = Path(folder) / "turn"
        while waiting:
            with sigint_blocked():
                process = ProcessPoolExecutor(
                    1, initializer=exit_with_parent, initargs=(os.getpid(),)
                )
            try:
                while waiting:
                    note.unlink(missing_ok=True)
                    with sigint_blocked():
                        future = process.submit(play_noting, run, waiting[0], note)
                    game = future.result()
                    waiting.popleft()
                    yield game
            except BrokenExecutor as error:
                if waiting[0] not in tried:
                    tried.add(waiting[0])
                    continue
                game = _crash(waiting.popleft(), note, error)
                assert game.forfeited_by is not None
                quarantined.add(game.players[game.forfeited_by])
                yield game
            finally:
                with quiet_shutdown():
                    process.shutdown(wait=True, kill_workers=True)


def _crash(fixture: Fixture, note: Path, error: BrokenExecutor) -> GameRecord:
    """The record of a game that ended its process twice."""
    (first, second), opening = fixture
    if not note.exists():
        words = " ".join(str(error).split())
        raise WorkerDied(
            f"{first} against {second} from opening {opening!r}: its worker process died twice "
            f"before the game began ({words}); all games before are kept in the run directory, "
            "if one was named"
        )
    seat_text, _, moves = note.read_text().partition(" ")
    codes = re.search(r"\{(.*)\}", str(error))
    reason = f"its process ended twice{f': {codes[1]}' if codes else ''}"
    return GameRecord((first, second), opening, moves, 1 - int(seat_text), "crash", reason)


class _Processes:
    used = False  # joblib keeps some for the next run


def dismiss_processes() -> None:
    """End the processes that joblib keeps for the next run, and so what their agents hold."""
    if _Processes.used:
        with sigint_blocked():
            get_reusable_executor(reuse=True).shutdown(wait=True, kill_workers=True)
        _Processes.used = False


# -- in the worker -----------------------------------------------------------------------


def play_batch(run: RunSpec, fixtures: Sequence[Fixture]) -> tuple[list[GameRecord], float]:
    """Games one after the other, and the seconds they took."""
    if run.version != version_here():
        raise InvalidRun(
            f"a worker on {platform.node()} has c4env {version_here()}, the run {run.version}: "
            "they must be the same"
        )
    register_all(run.registered)
    started = time.perf_counter()
    with _printing(run):
        games = [play_one(run, fixture) for fixture in fixtures]
    return games, time.perf_counter() - started


def register_all(registered: Mapping[str, Any]) -> None:
    """Give agents the names that they have in the process that leads."""
    for name, agent in registered.items():
        agents.register(name, agent, replace=True)


def play_noting(run: RunSpec, fixture: Fixture, note: Path) -> GameRecord:
    """One game; whose turn it is, and the moves so far, are always in a file."""
    register_all(run.registered)

    def on_turn(moves: str) -> None:
        note.write_text(f"{len(moves) & 1} {moves}")

    pair, opening = fixture
    with _printing(run):
        for seat, name in enumerate(pair):
            note.write_text(f"{seat} {opening}")
            agent_cache.policy(run, name, seat)
        return play_one(run, fixture, on_turn)


def _printing(run: RunSpec) -> AbstractContextManager[Any]:
    """Keep agents' printing from stdout; threads share it, so there their starter sees to it."""
    return nullcontext() if run.shared else stdout_to_stderr()


def play_one(
    run: RunSpec, fixture: Fixture, on_turn: Callable[[str], Any] | None = None
) -> GameRecord:
    """One game between agents built here from their specs."""
    pair, opening = fixture
    first, second = (agent_cache.policy(run, name, seat) for seat, name in enumerate(pair))
    if run.transcripts is not None:
        for policy in (first, second):
            if is_language_model(policy):
                policy.tape = run.transcripts.tape(fixture)
    return play_game((first, second), pair, opening, run.seed, run.clock, on_turn)


class AgentCache(threading.local):
    """The agents this thread has made for the run it plays in."""

    def __init__(self) -> None:
        self._run = ""
        self._made: dict[tuple[str, int], Policy] = {}

    def policy(self, run: RunSpec, name: str, seat: int) -> Policy:
        """The agent of a name; one a seat, since the two sides of a game share nothing."""
        player = run.field[name]
        if not isinstance(player, str) and not run.shared:
            return player
        if self._run != run.id:
            self.clear()
            self._run = run.id
        if (name, seat) not in self._made:
            movetime = run.clock.movetime if run.clock is not None else None
            self._made[name, seat] = (
                make_player(player, movetime) if isinstance(player, str) else copy.deepcopy(player)
            )
        return self._made[name, seat]

    def adopt(self, run: RunSpec, made: dict[str, Agent]) -> None:
        """Take over agents that were made already, each for the first seat of a game."""
        self.clear()
        self._run = run.id
        while made:
            name, agent = made.popitem()
            self._made[name, 0] = agent

    def clear(self) -> None:
        """Let all agents give back what they hold."""
        close_agents(self._made)


def close_agents(made: dict[Any, Any]) -> None:
    """Take agents out of a dictionary and close them; one that fails to is warned of."""
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
