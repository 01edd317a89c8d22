"""Play games on workers that joblib starts: in threads, or on a Dask or Ray cluster.

A worker that dies ends the run; the same command resumes it.
"""

from __future__ import annotations

import dataclasses
import importlib
import os
import platform
import warnings
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any

import joblib
from joblib.parallel import get_active_backend

from c4env.errors import C4Error, InvalidOption, MissingExtra, Unavailable
from c4env.evaluation.games.processes import sigint_blocked
from c4env.lazy import from_extra

from ..plan.header import Fixture, version_here
from ..store.record import GameRecord
from .players import RunSpec, play_one, register_all


def elsewhere(backend: str | None) -> bool:
    """Whether joblib plays a run: on a backend given here or by ``joblib.parallel_config``."""
    if backend is None:
        return type(get_active_backend()[0]).__name__ != "LokyBackend"
    return backend not in ("serial", "loky")


def play_elsewhere(
    run: RunSpec,
    fixtures: Sequence[Fixture],
    jobs: int,
    backend: str | None = None,
    address: str | None = None,
) -> Generator[GameRecord, None, None]:
    """Play games on joblib's workers; yield each game when its task is done.

    Without an address, ``jobs`` workers start on this machine.

    Raises:
        Unavailable: a worker failed.
    """
    with _cluster(backend, jobs, address):
        active, _ = get_active_backend()
        threads = bool(getattr(active, "uses_threads", False))
        sent = dataclasses.replace(run, shared=True) if threads else run.sent()
        workers = -1 if address is not None else jobs
        size = 1 if threads else max(1, min(50, len(fixtures) // (4 * jobs)))
        batches = (fixtures[i : i + size] for i in range(0, len(fixtures), size))
        here = version_here(), None if threads else os.getcwd()
        tasks = (joblib.delayed(play_batch)(sent, batch, *here) for batch in batches)
        try:
            for games in _results(tasks, workers, active.supports_return_generator):
                yield from games
        except (C4Error, GeneratorExit):
            raise
        except Exception as error:
            raise Unavailable(f"a worker of {backend or 'the cluster'} failed: {error}") from error


def _results(tasks: Iterator[Any], jobs: int, as_generator: bool) -> Iterator[list[GameRecord]]:
    if not as_generator:
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


def play_batch(
    run: RunSpec, fixtures: Sequence[Fixture], version: str, folder: str | None
) -> list[GameRecord]:
    """Play games in a worker."""
    if version != version_here():
        raise InvalidOption(
            f"a worker on {platform.node()} has c4env {version_here()}: "
            f"expected the same as the run, {version}"
        )
    if folder is not None:
        with suppress(OSError):  # another machine may not have that folder
            os.chdir(folder)
        register_all(run.registered)
    return [play_one(run, *fixture) for fixture in fixtures]


@contextmanager
def _cluster(backend: str | None, jobs: int, address: str | None) -> Iterator[None]:
    if backend is None:
        yield
        return
    if backend not in ("dask", "ray"):
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
            raise InvalidOption(f"address={address!r}: {where}") from None
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
