"""Searches in threads, so that Ctrl-C or a time limit can stop them.

A running kernel polls its workspace: the caller stops the search by the word ``LIMIT``.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from math import inf
from typing import Final, TypeVar

import numpy as np

from c4env.arrays import Int64s

NODES: Final = 0  # nodes searched so far; 0 in searches that count nodes elsewhere
LIMIT: Final = 1  # the search stops once NODES reaches it; the caller lowers it to stop the search
NEVER: Final = 1 << 62  # a limit that no search reaches
STOP_NOW: Final = -1  # a limit that every search has reached

WORDS: Final = 8  # words that all searches share; a search's own words follow

QUICK_NODES: Final = 10**6
"""The most nodes of a search that runs without a thread of its own.

So many nodes take at most a few tenths of a second. To start a thread takes 0.1 ms, longer than
most searches of an agent.
"""

_CHECK_EVERY: Final = 0.05  # seconds between two checks for signals

T = TypeVar("T")

UNWATCHED: Final = np.array([0, NEVER] + [0] * (WORDS - 2), np.int64)
"""The workspace of quick searches, which run without a thread and cannot be stopped."""


def search_interruptibly(
    search: Callable[[Int64s], T],
    nodes: float,
    work: Int64s | None = None,
    seconds: float | None = None,
) -> T:
    """Run a search in its own thread, so that Ctrl-C reaches the caller; return the result.

    The search releases the interpreter's lock, and returns early once its workspace's word
    ``LIMIT`` is ``STOP_NOW``, as it is after ``seconds``. A search of at most ``QUICK_NODES``
    ``nodes``, as the caller estimates, runs in the caller's thread, where nothing can stop it.
    """
    if nodes <= QUICK_NODES and seconds is None:
        return search(UNWATCHED if work is None else work)
    results: list[T] = []
    workspace = UNWATCHED.copy() if work is None else work
    run_interruptibly(lambda work: results.append(search(work)), [workspace], seconds)
    return results[0]


def run_interruptibly(
    task: Callable[[Int64s], object],
    workspaces: list[Int64s],
    seconds: float | None = None,
) -> None:
    """Run a task in one thread for each workspace; stop all after ``seconds`` or on Ctrl-C.

    The caller gets the first error of a task.
    """
    done = threading.Semaphore(0)
    errors: list[BaseException] = []
    end = time.perf_counter() + (inf if seconds is None else seconds)

    def run(work: Int64s) -> None:
        try:
            task(work)
        except BaseException as error:  # raised in the caller's thread
            errors.append(error)
        finally:
            done.release()

    threads = [threading.Thread(target=run, args=(work,), daemon=True) for work in workspaces]
    try:
        for thread in threads:
            thread.start()
        running = len(threads)
        while running and (left := end - time.perf_counter()) > 0:
            running -= done.acquire(timeout=min(left, _CHECK_EVERY))
    finally:
        for work in workspaces:
            work[LIMIT] = STOP_NOW
        for thread in threads:
            if thread.ident is not None:
                thread.join()
    if errors:
        raise errors[0]
