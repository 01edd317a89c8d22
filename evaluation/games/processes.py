"""The life of worker processes: deaf to Ctrl-C, and gone when the process that leads is.

The module is small because workers import it before all else.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker as python_tracker

from joblib.externals.loky.backend import resource_tracker as loky_tracker


@contextmanager
def deaf_to_interrupts() -> Iterator[None]:
    """Processes started within never hear Ctrl-C, which is for the process that leads.

    The terminal sends it to all; a worker would print a traceback for it, even while it is
    still importing. Blocked signals stay blocked in processes that are started meanwhile.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    # Python starts these on the way, and unblocks the signal when it has.
    python_tracker.ensure_running()
    loky_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def one_interrupt() -> Iterator[None]:
    """The first Ctrl-C raises KeyboardInterrupt, and none after it until the code within is left.

    A second one would break the tidying up that the first one began. Where somebody else
    handles the signal, or in another thread than the main one, nothing is changed.
    """
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def once(*_: object) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, once)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def start_worker(parent: int) -> None:
    """Let this process end when the one that started it does, however that ended."""
    if os.name == "posix":  # elsewhere the number of a parent that died stays
        threading.Thread(target=_leave_with, args=(parent,), daemon=True).start()


def _leave_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)
