"""Searches in threads, and a caller who can be interrupted."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

from agents.solver.search.null_window import LIMIT, STOPPED
from c4env.arrays import Int64s

_AT_ONCE: Final = -1  # a limit of nodes that every search has reached


def run_interruptibly(
    task: Callable[[Int64s], None], workspaces: list[Int64s], wait_for: int
) -> None:
    """Run a task in a thread for each workspace until some are done; then stop the others.

    Anything that ends the wait, such as Ctrl-C, stops them all.

    Args:
        task: searches with one workspace.
        workspaces: one a thread.
        wait_for: how many threads have to be done.
    """
    done = threading.Semaphore(0)

    def run(work: Int64s) -> None:
        try:
            task(work)
        finally:
            done.release()

    threads = [threading.Thread(target=run, args=(work,), daemon=True) for work in workspaces]
    try:
        for thread in threads:
            thread.start()
        for _ in range(wait_for):
            while not done.acquire(timeout=0.05):  # a turn for signals
                pass
    finally:
        for work in workspaces:
            work[STOPPED] = 1
            work[LIMIT] = _AT_ONCE
        for thread in threads:
            if thread.ident is not None:
                thread.join()
