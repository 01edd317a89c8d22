"""Work on a Dask or Ray cluster: workers get batches of items, and results come as batches end.

    spread(GamesTask.of(...), fixtures, "dask", "tcp://host:8786")    the games of a run

If a machine lacks a module, or has another file of an agent, the machine is unfit
(:class:`Unfit`). Its batch goes to another machine. If no machine can do the work, the run ends.
"""

from __future__ import annotations

import importlib
import platform
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeVar

from c4env.errors import AgentChanged, C4Error, InvalidOption, Unavailable
from c4env.evaluation.records.game import GameRecord
from c4env.evaluation.records.header import Fixture, versions
from c4env.evaluation.runs.play_game import Clock
from c4env.evaluation.runs.players import Players, Traits
from c4env.evaluation.runs.referee import Referee
from c4env.evaluation.tables import shortened
from c4env.geometry import BOARD_SIZE
from c4env.lazy import from_extra

RETRIES: Final = 3  # of a batch whose worker died
LEAST: Final = 2  # items per batch, at least: both colours of an opening
LONGEST: Final = 10.0  # seconds per batch, at most; a kill can lose a batch
SHARE: Final = 4  # batches per worker, at least
MAKING: Final = 300.0  # seconds for a worker to make an agent
PATIENCE: Final = 60.0  # seconds without any worker

Item = TypeVar("Item")
Result = TypeVar("Result")
Task = Callable[[Sequence[Item]], Iterable[Result]]
"""What workers do: a function of items that yields the result of each item. The function travels
with each batch. If a machine cannot do the work, the function raises :class:`Unfit`."""


class Unfit(Exception):
    """A machine cannot do the work; the message says why."""


class Done(NamedTuple):
    """The outcome of a batch."""

    worker: str  # the worker's name in the engine
    results: list[Any]  # of the first items
    seconds: float
    unfit: str  # why the machine could not do the other items, or ""


def spread(
    task: Task[Item, Result],
    items: Sequence[Item],
    backend: str,
    address: str | None = None,
    jobs: int = 1,
) -> Generator[Result, None, None]:
    """Do the work of items on a cluster; yield the results of each batch when it is done.

    A batch is at most a quarter of a worker's share of the items. By the time of earlier batches, a
    batch takes at most about ten seconds. A worker that cannot do the work gets no more work.

    Args:
        task: what the workers do.
        items: the items to work on.
        backend: a key of ``ENGINES``.
        address: the address of a cluster, all of whose workers work.
        jobs: the number of workers on this machine, without an address.

    Raises:
        Unavailable: no worker can do the work, or the engine says that a batch failed.
        InvalidOption: the cluster does not answer.
        MissingExtra: the engine is not installed.
    """
    waiting, running = deque(items), dict[Any, list[Item]]()
    unfit: dict[str, str] = {}  # by worker, why
    pace, seen = 0.0, time.monotonic()  # seconds per item; when there last was a worker
    engine = _connected(backend, address, jobs)
    try:
        while waiting or running:
            workers = engine.workers()
            fit = {name: slots for name, slots in workers.items() if name not in unfit}
            if workers and not fit:
                raise Unavailable("; ".join(dict.fromkeys(unfit.values())))
            seen = time.monotonic() if fit else seen
            if time.monotonic() - seen > PATIENCE:
                raise Unavailable(f"{backend} has had no worker for {PATIENCE:g} s")
            slots = sum(fit.values())
            while waiting and len(running) < 2 * slots:
                size = max(LEAST, len(items) // (SHARE * slots))
                size = max(LEAST, min(size, int(LONGEST / pace))) if pace else LEAST
                batch = [waiting.popleft() for _ in range(min(size, len(waiting)))]
                running[engine.submit(task, batch, [*fit] if unfit else [])] = batch
            if not running:
                time.sleep(1.0)  # for a worker
                continue
            if (future := engine.first([*running])) is None:
                continue
            batch, done = running.pop(future), engine.result(future)
            yield from done.results
            if done.unfit:
                if done.worker not in unfit:
                    print(f"{done.unfit}; this worker gets no more work", file=sys.stderr)
                unfit[done.worker] = done.unfit
                waiting.extendleft(reversed(batch[len(done.results) :]))
            elif done.results:
                pace = done.seconds / len(done.results)
    except (C4Error, GeneratorExit):
        raise
    except Exception as error:
        text = shortened(" ".join(str(error).split()), 120) or type(error).__name__
        raise Unavailable(f"a worker of {backend} failed: {text}") from error
    finally:
        with suppress(Exception):
            engine.close([*running])


def work(worker: str, task: Task[Any, Any], items: Sequence[Any]) -> Done:
    """Do a batch in this process, which is a worker."""
    results, started, unfit = list[Any](), time.monotonic(), ""
    try:
        results.extend(task(items))
    except AgentChanged as error:  # the message names the machine
        unfit = str(error)
    except (Unfit, Unavailable) as error:
        unfit = f"{platform.node()}: {error}"
    return Done(worker, results, time.monotonic() - started, unfit)


class Dask:
    """Dask, by futures; the scheduler of Dask repeats the batch of a worker that dies."""

    def __init__(self, distributed: Any, address: str | None, jobs: int) -> None:
        local = {"n_workers": jobs, "threads_per_worker": 1, "dashboard_address": None}
        self._client = distributed.Client(address, **({} if address else local))
        self._wait = distributed.wait

    def workers(self) -> dict[str, int]:
        """Return the number of batches that each worker does at a time, by its name."""
        return {**self._client.nthreads()}

    def submit(self, task: Task[Any, Any], items: Sequence[Any], only: Sequence[str]) -> Any:
        """Begin a batch, on one of the workers ``only`` if there are any."""
        where = {"workers": [*only]} if only else {}
        return self._client.submit(_in_dask, task, items, retries=RETRIES, pure=False, **where)

    def first(self, futures: Sequence[Any]) -> Any:
        """Return the first batch that is done, or None after a second."""
        with suppress(TimeoutError):
            self._wait(futures, 1.0, "FIRST_COMPLETED")
        return next((future for future in futures if future.status != "pending"), None)

    def result(self, future: Any) -> Any:
        """Return what became of a batch, or raise what the engine says."""
        return future.result()

    def close(self, futures: Sequence[Any]) -> None:
        """Leave the cluster, whatever is still running."""
        self._client.cancel(futures)
        self._client.run(close_kept)
        self._client.close()


def _in_dask(task: Task[Any, Any], items: Sequence[Any]) -> Done:
    worker = importlib.import_module("distributed").get_worker()
    return work(worker.address, task, items)


class Ray:
    """Ray, by tasks; a worker here is a node with all of its processes."""

    def __init__(self, ray: Any, address: str | None, jobs: int) -> None:
        self._ray, self._is_mine = ray, not ray.is_initialized()
        if self._is_mine:
            local = {"num_cpus": jobs, "include_dashboard": False}
            ray.init(address, logging_level="ERROR", **({} if address else local))
        self._task = ray.remote(max_retries=RETRIES)(_in_ray)
        self._submitted = 0

    def workers(self) -> dict[str, int]:
        """Return the number of batches that each node does at a time, by its name."""
        nodes = {
            n["NodeID"]: int(n["Resources"].get("CPU", 0)) for n in self._ray.nodes() if n["Alive"]
        }
        return {name: slots for name, slots in nodes.items() if slots}

    def submit(self, task: Task[Any, Any], items: Sequence[Any], only: Sequence[str]) -> Any:
        """Begin a batch on one of the nodes ``only``, or elsewhere if that node has died."""
        self._submitted += 1
        if not only:
            return self._task.remote(task, items)
        strategies = importlib.import_module("ray.util.scheduling_strategies")
        node = only[self._submitted % len(only)]
        where = strategies.NodeAffinitySchedulingStrategy(node, soft=True)
        return self._task.options(scheduling_strategy=where).remote(task, items)

    def first(self, futures: Sequence[Any]) -> Any:
        """Return the first batch that is done, or None after a second."""
        done, _ = self._ray.wait(futures, num_returns=1, timeout=1.0)
        return done[0] if done else None

    def result(self, future: Any) -> Any:
        """Return what became of a batch, or raise what the engine says."""
        return self._ray.get(future)

    def close(self, futures: Sequence[Any]) -> None:
        """Leave the cluster, whatever is still running."""
        for future in futures:
            self._ray.cancel(future, force=True)
        if self._is_mine:
            self._ray.shutdown()


def _in_ray(task: Task[Any, Any], items: Sequence[Any]) -> Done:
    node = importlib.import_module("ray").get_runtime_context().get_node_id()
    return work(node, task, items)


ENGINES: Final[dict[str, Any]] = {"dask": Dask, "ray": Ray}
_MODULES: Final = {"dask": "distributed", "ray": "ray"}


def require_engine(backend: str | None, address: str | None) -> None:
    """Refuse a backend that is not an engine, and an address without a backend."""
    expected = " or ".join(ENGINES)
    if backend is None:
        raise InvalidOption(f"address={address!r}: only the backend {expected} takes an address")
    if backend not in ENGINES:
        raise InvalidOption(f"backend={backend!r}: expected {expected}")


def _connected(backend: str, address: str | None, jobs: int) -> Any:
    """Return an engine that is connected to a cluster, or to a cluster that it starts here."""
    with from_extra(backend, f"backend {backend!r} needs another package"):
        library = importlib.import_module(_MODULES[backend])
    try:
        return ENGINES[backend](library, address, jobs)
    except OSError as error:
        raise InvalidOption(
            f"address={address!r}: no {backend} cluster answers ({error})"
        ) from None


@dataclass(frozen=True)
class GamesTask:
    """The task of a run: a worker makes the agents once, and checks that they are unchanged."""

    players: Players
    traits: dict[str, Traits]  # of each player, with the hashes of its files
    clock: Clock | None
    seed: int
    run: str  # the header, by which a worker recognises the run
    share: str  # must be equal on all workers

    @classmethod
    def of(cls, referee: Referee, traits: Mapping[str, Traits], run: str) -> GamesTask:
        """Return the task of a run whose agents a referee of this process has made."""
        plain = {name: its._replace(files={**its.files}) for name, its in traits.items()}
        return cls(referee.players, plain, referee.clock, referee.seed, run, workers_share())

    def __call__(self, fixtures: Sequence[Fixture]) -> Iterator[GameRecord]:
        """Play the games of fixtures."""
        thread = threading.get_ident()
        run, referee = _kept.get(thread, ("", None))
        if referee is None or run != self.run:
            if referee is not None:
                _kept.pop(thread)
                referee.close()
            referee = self._referee()
            _kept[thread] = self.run, referee
        for pair, opening in fixtures:
            yield referee.play(pair, opening).on(platform.node())

    def _referee(self) -> Referee:
        """Return a referee with the agents of the run; raise Unfit if the agents differ here."""
        require_share(self.share)
        referee = Referee(self.players, self.clock, self.seed, making=MAKING)
        try:
            for name, expected in self.traits.items():
                _require_same(name, referee.traits(name), expected)
        except BaseException as error:
            referee.close()
            if isinstance(error, C4Error):
                raise Unfit(f"agent {name!r}: {error}") from None
            raise
        return referee


def _require_same(name: str, found: Traits, expected: Traits) -> None:
    """Check that an agent is the agent of the run; its files may be in other folders here."""
    here, there = found.files, expected.files
    if sorted(here.values()) != sorted(there.values()):
        files = {f for f in here if here[f] not in there.values()}
        files |= {f for f in there if there[f] not in here.values()}
        raise Unfit(f"agent {name!r}: {', '.join(sorted(files))} is another file than the run's")
    if found._replace(files={}) != expected._replace(files={}):
        raise Unfit(f"agent {name!r} says of itself {found}, and in the run {expected}")


def workers_share() -> str:
    """Return what all workers of a cluster must have in common with this process."""
    return f"c4env {versions()}, board {BOARD_SIZE}"


def require_share(share: str) -> None:
    """Raise Unfit if this process, a worker, has other versions or another board."""
    if share != (here := workers_share()):
        raise Unfit(f"it has {here}: expected {share}")


_kept: Final[dict[int, tuple[str, Referee]]] = {}
"""In a worker process, by thread: the run that the thread plays, and its referee."""


def close_kept() -> None:
    """Close what this worker process keeps of a run."""
    while _kept:
        _kept.popitem()[1][1].close()
