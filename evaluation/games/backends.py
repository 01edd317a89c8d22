"""Where workers run: joblib's backends, of which Dask and Ray need a cluster to be connected to."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import joblib
from c4env.evaluation.errors import InvalidRun
from c4env.evaluation.games.processes import sigint_blocked

from c4env.errors import MissingExtra
from c4env.lazy import from_extra

CLUSTERS: Final = {"dask": "distributed.scheduler:KilledWorker", "ray": "ray.exceptions:RayError"}
"""Backends that take an address, and the error each raises when a worker is given up."""

BACKENDS: Final = ("serial", "loky", "threading", *CLUSTERS)
"""``serial`` needs no workers; ``loky`` are processes of this machine."""


@contextmanager
def workers_at(backend: str, jobs: int, address: str | None = None) -> Iterator[None]:
    """Let joblib use a backend within.

    A cluster is the one at an address, such as ``tcp://host:8786`` of a Dask scheduler or
    ``ray://host:10001``, or ``jobs`` processes of this machine.

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
    """Refuse a backend there is not, and an address where it means nothing.

    Raises:
        InvalidRun: one of the two.
    """
    if backend is not None and backend not in BACKENDS:
        raise InvalidRun(f"backend={backend!r}: expected one of {', '.join(BACKENDS)}")
    if address is not None and backend not in CLUSTERS:
        wanted = " or ".join(CLUSTERS)
        raise InvalidRun(f"address={address!r}: only the backend {wanted} takes an address")


def worker_death(backend: str | None) -> tuple[type[BaseException], ...]:
    """What else than BrokenExecutor is raised when a backend gives up on a worker."""
    if backend not in CLUSTERS:
        return ()
    module, _, attribute = CLUSTERS[backend].partition(":")
    return (getattr(importlib.import_module(module), attribute),)
