"""The life of processes: who hears Ctrl-C, who ends when, and where agents' printing goes.

The module is small because workers import it before all else.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from typing import Any, Final, TextIO

ENDINGS: Final = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
"""Signals by which somebody asks a command to end."""

_DEFAULTS: Final = (signal.SIG_DFL, signal.default_int_handler)


class Interruption(BaseException):
    """Raised into an agent's code from outside, to stop it; no ``except Exception`` holds it up."""


class _Interrupts:
    """What this process knows of requests to stop."""

    heard: int | None = None  # the signal that came
    handled = False  # a KeyboardInterrupt without such a signal is an agent's own
    depth = 0  # of one_interrupt() in itself


def agents_own(error: BaseException) -> bool:
    """Whether an agent raised this itself, rather than a signal or a clock that stops it."""
    if isinstance(error, KeyboardInterrupt):
        ignored = signal.getsignal(signal.SIGINT) == signal.SIG_IGN  # as in a script's background
        return (_Interrupts.handled or ignored) and _Interrupts.heard is None
    return not isinstance(error, Interruption)


def raise_interrupt() -> None:
    """Raise KeyboardInterrupt again if one came that an agent has swallowed."""
    if _Interrupts.heard is not None:
        raise KeyboardInterrupt


def signal_heard() -> int | None:
    """The signal that :func:`one_interrupt` has heard last, if it heard one."""
    return _Interrupts.heard


@contextmanager
def sigint_blocked() -> Iterator[None]:
    """Processes started within never hear Ctrl-C, which is for the process that started them.

    The terminal sends it to all; a worker would print a traceback for it, even while it is
    still importing. Blocked signals stay blocked in processes that are started meanwhile.
    What is heard here meanwhile, by another thread, waits until the processes are started.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    from multiprocessing import resource_tracker as python_tracker

    from joblib.externals.loky.backend import resource_tracker as loky_tracker

    # Python starts these on the way, and unblocks the signal when it has.
    python_tracker.ensure_running()
    loky_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with _handlers_held():
            yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _handlers_held() -> Iterator[None]:
    """Python's handlers of ENDINGS run when the code within is left, if their signal came."""
    handlers = {number: signal.getsignal(number) for number in ENDINGS}
    mine = {number: handler for number, handler in handlers.items() if callable(handler)}
    if threading.current_thread() is not threading.main_thread():
        mine = {}
    came: list[int] = []
    for number in mine:
        signal.signal(number, lambda number, _: came.append(number))
    try:
        yield
    finally:
        for number, handler in mine.items():
            signal.signal(number, handler)
        if came:
            mine[came[0]](came[0], None)


@contextmanager
def one_interrupt(signals: Sequence[int] = (signal.SIGINT,)) -> Iterator[None]:
    """The first of the signals raises KeyboardInterrupt; none after it until the code is left.

    A second one would break the tidying up that the first one began. Signals that somebody
    else handles or ignores are left to them; so are all in another thread than the main one.
    """
    mine = [number for number in signals if signal.getsignal(number) in _DEFAULTS]
    if threading.current_thread() is not threading.main_thread() or not mine:
        yield
        return

    def once(number: int, _: object) -> None:
        for each in mine:
            signal.signal(each, signal.SIG_IGN)
        _Interrupts.heard = number
        raise KeyboardInterrupt

    outer = _Interrupts.handled, _Interrupts.depth
    if not _Interrupts.depth:
        _Interrupts.heard = None
    _Interrupts.depth += 1
    _Interrupts.handled |= signal.SIGINT in mine
    before = {number: signal.signal(number, once) for number in mine}
    try:
        yield
    finally:
        _Interrupts.handled, _Interrupts.depth = outer
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def quiet_shutdown() -> Iterator[None]:
    """Within, joblib's processes can be ended without a traceback of its own.

    Its thread that hands out tasks raises a KeyError for one that it had not seen when they were
    ended, and it is no more than a message (https://github.com/joblib/loky/pull/663).
    """
    before = threading.excepthook

    def hook(error: threading.ExceptHookArgs) -> None:
        name = error.thread.name if error.thread else ""
        if (name, error.exc_type) != ("ExecutorManagerThread", KeyError):
            before(error)

    threading.excepthook = hook
    try:
        yield
    finally:
        threading.excepthook = before


def exit_with_parent(parent: int) -> None:
    """Let this worker process end when the process that started it does, however that ended.

    joblib does not replace it when it grows, as the tables of agents make it: a new one would have
    to load the agents again.
    """
    from joblib.externals.loky import process_executor

    process_executor._USE_PSUTIL = False  # with psutil, joblib ends workers that have grown
    _Interrupts.handled = True  # it is started with Ctrl-C blocked
    if os.name == "posix":  # elsewhere the number of a parent that died stays
        threading.Thread(target=_leave_with, args=(parent,), daemon=True).start()


def _leave_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


class _Lent:
    """A stream that the one it is lent to cannot close."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def close(self) -> None:
        """Leave it open: others write to it."""


@contextmanager
def stdout_to_stderr() -> Iterator[None]:
    """What agents print goes to stderr, whatever they do to stdout: that is for the answer."""
    with suppress(OSError, ValueError):
        sys.stdout.flush()
    try:
        kept = os.dup(1)
    except OSError:  # the process was started without
        kept = -1
    try:
        with redirect_stdout(_Lent(sys.stderr)):
            yield
    finally:
        if kept >= 0:
            os.dup2(kept, 1)
            os.close(kept)
