"""Run workers on a backend: processes, threads, or a Dask or Ray cluster."""

from __future__ import annotations

import importlib
import os
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from itertools import islice
from typing import Any, ClassVar, Final, TypeVar

import joblib
from joblib.externals.loky import ProcessPoolExecutor
from joblib.parallel import get_active_backend

from c4env.errors import MissingExtra
from c4env.evaluation.errors import InvalidRun
from c4env.evaluation.games.processes import (
    exit_with_parent,
    quiet_shutdown,
    sigint_blocked,
)
from c4env.lazy import from_extra

CLUSTERS: Final = {"dask": "distributed.scheduler:KilledWorker", "ray": "ray.exceptions:RayError"}
"""Cluster backends, and the error with which each backend reports a dead worker."""

BACKENDS: Final = ("serial", "loky", "threading", *CLUSTERS)
"""``serial`` needs no workers; ``loky`` starts processes on this machine."""

IDLE: Final = 300.0  # seconds without a task after which a worker ends

ENDING: Final = 5.0  # seconds to wait for a thread of a pool that was shut down

_THREADS: Final = tuple(
    f"{name}_NUM_THREADS"
    for name in ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB", "NUMBA", "NUMEXPR")
)
"""Environment variables that limit the threads of a worker's libraries."""

R = TypeVar("R")


@contextmanager
def workers_at(backend: str, jobs: int, address: str | None = None) -> Iterator[None]:
    """A context manager that makes joblib use a backend.

    Args:
        backend: one of BACKENDS.
        jobs: the number of workers on this machine.
        address: a cluster's address, such as ``tcp://host:8786`` of a Dask scheduler or
            ``ray://host:10001``; None starts ``jobs`` workers on this machine.

    Raises:
        InvalidRun: no cluster answers at the address.
        MissingExtra: a package is not installed.
    """
    if backend not in CLUSTERS:
        with joblib.parallel_config(backend=backend):
            yield
        return
    with sigint_blocked():
        try:
            cluster = _dask(jobs, address) if backend == "dask" else _ray(jobs, address)
        except (OSError, ValueError, RuntimeError) as error:
            if isinstance(error, MissingExtra):
                raise
            where = f"no {backend.title()} cluster answers ({error})"
            raise InvalidRun(f"address={address!r}: {where}") from None
    with cluster, joblib.parallel_config(backend=backend):
        yield


def _dask(jobs: int, address: str | None) -> Any:
    with from_extra("dask", "backend 'dask' needs another package"):
        distributed = importlib.import_module("distributed")
    if address is not None:
        return distributed.Client(address)
    return distributed.Client(n_workers=jobs, threads_per_worker=1, dashboard_address=None)


def _ray(jobs: int, address: str | None) -> Any:
    with from_extra("ray", "backend 'ray' needs another package"):
        ray = importlib.import_module("ray")
        importlib.import_module("ray.util.joblib").register_ray()
    local = {"num_cpus": jobs, "include_dashboard": False} if address is None else {}
    return ray.init(address=address or "local", log_to_driver=False, **local)


def check_backend(backend: str | None, address: str | None) -> None:
    """Check that a backend exists, and that an address belongs to a cluster backend.

    Raises:
        InvalidRun: the backend is unknown, or has an address but no cluster.
    """
    if backend is not None and backend not in BACKENDS:
        raise InvalidRun(f"backend={backend!r}: expected one of {', '.join(BACKENDS)}")
    if address is not None and backend not in CLUSTERS:
        wanted = " or ".join(CLUSTERS)
        raise InvalidRun(f"address={address!r}: only the backend {wanted} takes an address")


def worker_death(backend: str | None) -> tuple[type[BaseException], ...]:
    """Return the exception that reports a dead worker, in a tuple; () without a cluster backend."""
    if backend not in CLUSTERS:
        return ()
    module, _, attribute = CLUSTERS[backend].partition(":")
    return (getattr(importlib.import_module(module), attribute),)


def on_this_machine() -> bool:
    """Whether joblib's workers are processes on this machine."""
    return type(get_active_backend()[0]).__name__ == "LokyBackend"


def as_they_end(
    function: Callable[..., R], given: Iterable[tuple[Any, ...]], jobs: int
) -> Generator[R, None, None]:
    """Call a function in processes on this machine; yield each result when it is ready.

    Closing the generator stops the processes.

    Args:
        function: called once for each item of ``given``.
        given: tuples of arguments; a free worker takes the next tuple.
        jobs: number of worker processes.
    """
    pool = _processes(jobs)
    rest = iter(given)
    waiting: set[Future[R]] = set()
    whole = False
    try:
        while True:
            for arguments in islice(rest, 2 * jobs - len(waiting)):
                with sigint_blocked():  # a process may be started
                    waiting.add(pool.submit(function, *arguments))
            if not waiting:
                break
            with warnings.catch_warnings():
                # joblib replaces a worker that was idle for a long time; no result is lost.
                warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
        whole = True
    finally:
        if not whole:
            dismiss_processes()


class _Processes:
    kept: Any = None  # for the next run
    made_for: tuple[int, Mapping[str, str]] = 0, {}  # its number of workers, and their environment
    code: ClassVar[dict[str, str]] = {}  # hashes of the files that its agents have imported


def _processes(jobs: int) -> Any:
    """Return the process pool of the last run if its settings fit, else a new pool.

    Other code that uses joblib does not change this pool, because joblib.Parallel has its own.
    """
    cores = str(max(joblib.cpu_count() // jobs, 1))
    wanted = jobs, {name: os.environ.get(name, cores) for name in _THREADS}
    kept = _Processes.kept
    if kept is None or kept._flags.broken or kept._flags.shutdown or _Processes.made_for != wanted:
        _end_processes()
        with sigint_blocked():
            _Processes.kept = ProcessPoolExecutor(
                jobs,
                timeout=IDLE,
                initializer=exit_with_parent,
                initargs=(os.getpid(),),
                env=wanted[1],
            )
        _Processes.made_for = wanted
    return _Processes.kept


def renew_processes(code: Mapping[str, Mapping[str, str]]) -> None:
    """End the worker processes of the last run if an agent's code was edited since then.

    Args:
        code: the identity of each agent of the next run.
    """
    now = {file: found for own in code.values() for file, found in own.items()}
    if any(_Processes.code.get(file, found) != found for file, found in now.items()):
        dismiss_processes()
    _Processes.code |= now


def dismiss_processes() -> None:
    """End the worker processes of the last run, to free the resources of their agents."""
    _end_processes()
    _Processes.code = {}


def _end_processes() -> None:
    pool, _Processes.kept = _Processes.kept, None
    if pool is None:
        return
    feeder = getattr(pool._call_queue, "_thread", None)
    with quiet_shutdown():
        pool.shutdown(wait=True, kill_workers=True)
    if feeder is not None:
        # This thread removes a named lock when it ends, but joblib does not wait for the thread.
        # If this process ended first, joblib's tracker would print a warning about the lock.
        feeder.join(ENDING)
