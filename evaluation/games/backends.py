"""Where workers run: this process, processes or threads of this machine, or a cluster."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any, Final, NamedTuple

import joblib

from c4env.errors import MissingExtra
from evaluation.errors import InvalidRun
from evaluation.games.processes import deaf_to_interrupts


class Backend(NamedTuple):
    """One place to run."""

    connect: Callable[[int, str | None], AbstractContextManager[None]]  # jobs, address
    takes_address: bool = False
    died: str = ""  # module:attribute of the error when a worker is given up


def _imported(module: str, extra: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtra(
            f"backend {extra!r} needs another package ({error}): pip install 'c4env[{extra}]'"
        ) from None


def _by_joblib(name: str) -> Callable[[int, str | None], AbstractContextManager[None]]:
    @contextmanager
    def connect(jobs: int, address: str | None) -> Iterator[None]:
        with joblib.parallel_config(backend=name):
            yield

    return connect


@contextmanager
def _dask(jobs: int, address: str | None) -> Iterator[None]:
    """A Dask scheduler at an address such as tcp://host:8786, or processes of this machine."""
    distributed = _imported("distributed", "dask")
    with ExitStack() as stack:
        where: Any = address
        if address is None:
            with deaf_to_interrupts():
                where = distributed.LocalCluster(
                    n_workers=jobs, threads_per_worker=1, dashboard_address=None
                )
            stack.enter_context(where)
        try:
            stack.enter_context(distributed.Client(where))
        except (OSError, ValueError) as error:
            raise InvalidRun(f"address={address!r}: no Dask scheduler answers ({error})") from None
        stack.enter_context(joblib.parallel_config(backend="dask"))
        yield


@contextmanager
def _ray(jobs: int, address: str | None) -> Iterator[None]:
    """A Ray cluster at an address such as ray://host:10001, or processes of this machine."""
    ray = _imported("ray", "ray")
    _imported("ray.util.joblib", "ray").register_ray()
    local = {"num_cpus": jobs, "include_dashboard": False} if address is None else {}
    try:
        with deaf_to_interrupts():
            ray.init(address=address or "local", log_to_driver=False, **local)
    except (OSError, ValueError, RuntimeError) as error:
        raise InvalidRun(f"address={address!r}: no Ray cluster answers ({error})") from None
    try:
        with joblib.parallel_config(backend="ray"):
            yield
    finally:
        ray.shutdown()


BACKENDS: Final = {
    "loky": Backend(_by_joblib("loky")),
    "threading": Backend(_by_joblib("threading")),
    "dask": Backend(_dask, takes_address=True, died="distributed.scheduler:KilledWorker"),
    "ray": Backend(_ray, takes_address=True, died="ray.exceptions:RayError"),
}
"""Beside ``serial``, which needs no workers. ``loky`` are processes of this machine."""


def check_backend(backend: str | None, address: str | None) -> None:
    """Refuse a backend there is not, and an address where it means nothing.

    Raises:
        InvalidRun: one of the two.
    """
    known = ("serial", *BACKENDS)
    if backend is not None and backend not in known:
        raise InvalidRun(f"backend={backend!r}: expected one of {', '.join(known)}")
    if address is not None and (backend not in BACKENDS or not BACKENDS[backend].takes_address):
        wanted = " or ".join(name for name, found in BACKENDS.items() if found.takes_address)
        raise InvalidRun(f"address={address!r}: only the backend {wanted} takes an address")


def worker_death(backend: str | None) -> tuple[type[BaseException], ...]:
    """What else than BrokenExecutor is raised when a backend gives up on a worker."""
    path = BACKENDS[backend].died if backend is not None else ""
    if not path:
        return ()
    module, _, attribute = path.partition(":")
    return (getattr(importlib.import_module(module), attribute),)
