"""Play games on a Dask or Ray cluster.

A worker that dies ends the run, and the same command resumes it.
"""

from __future__ import annotations

import importlib
import platform
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from typing import Any

from c4env.errors import C4Error, InvalidOption, Unavailable
from c4env.lazy import from_extra

from ..store.header import Fixture, version_here
from ..store.run_files import GameRecord
from .field import Player
from .players import RunSpec, Seats, play_one

BATCH = 8  # games that a worker plays at a time


def play_elsewhere(
    run: RunSpec, field: Mapping[str, Player], fixtures: Sequence[Fixture], settings: Any
) -> Generator[GameRecord, None, None]:
    """Play games on a cluster; yield each when its batch is done."""
    parts = [
        (run, field, fixtures[i : i + BATCH], version_here())
        for i in range(0, len(fixtures), BATCH)
    ]
    try:
        with _unordered(settings.backend, settings.jobs, settings.address) as results:
            for games in results(parts):
                yield from games
    except (C4Error, GeneratorExit):
        raise
    except Exception as error:
        raise Unavailable(f"a worker of {settings.backend} failed: {error}") from error


def play_batch(
    part: tuple[RunSpec, Mapping[str, Player], Sequence[Fixture], str],
) -> list[GameRecord]:
    """Play games in a worker."""
    run, field, fixtures, version = part
    if version != version_here():
        where = f"a worker on {platform.node()} has c4env {version_here()}"
        raise InvalidOption(f"{where}: expected the same as the run, {version}")
    with closing(Seats(field, run.clock)) as seats:
        return [play_one(run, seats, *fixture) for fixture in fixtures]


@contextmanager
def _unordered(backend: str, jobs: int, address: str | None) -> Iterator[Callable[[Any], Any]]:
    """Make a context with a function that plays parts on a cluster, and yields each result."""
    with from_extra(backend, f"backend {backend!r} needs another package"):
        library = importlib.import_module(
            "distributed" if backend == "dask" else "ray.util.multiprocessing"
        )
    try:
        if backend == "dask":
            local = {"n_workers": jobs, "threads_per_worker": 1, "dashboard_address": None}
            with library.Client(address, **({} if address else local)) as client:
                done = partial(library.as_completed, with_results=True)
                yield lambda parts: (games for _, games in done(client.map(play_batch, parts)))
        else:
            with library.Pool(jobs, ray_address=address) as pool:
                yield partial(pool.imap_unordered, play_batch)
    except OSError as error:
        raise InvalidOption(
            f"address={address!r}: no {backend} cluster answers ({error})"
        ) from None
