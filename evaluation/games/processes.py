"""Signals that end a command, and the standard output, which is for results and not for agents."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from typing import Final

ENDINGS: Final = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
"""Signals that ask a command to end."""

_DEFAULTS: Final = (signal.SIG_DFL, signal.default_int_handler)


class _Interrupts:
    """The state of signal handling in this process."""

    heard: int | None = None  # the signal
    handled = False  # a KeyboardInterrupt without a signal comes from an agent
    held = False  # a process is being started: the interrupt waits
    depth = 0  # nesting of one_interrupt()


def agents_own(error: BaseException) -> bool:
    """Whether an agent's own code raised an error, rather than a signal."""
    if not isinstance(error, KeyboardInterrupt):
        return True
    ignored = signal.getsignal(signal.SIGINT) == signal.SIG_IGN  # a worker, a background job
    return (_Interrupts.handled or ignored) and _Interrupts.heard is None


def signal_heard() -> int | None:
    """Return the last signal that :func:`one_interrupt` received, or None."""
    return _Interrupts.heard


@contextmanager
def sigint_blocked() -> Iterator[None]:
    """A context in which new processes start with Ctrl-C blocked.

    The terminal sends Ctrl-C to every process, and each worker would print a traceback. A process
    inherits blocked signals from its parent. If a signal arrives meanwhile, :func:`one_interrupt`
    raises its KeyboardInterrupt when the context ends.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    from multiprocessing import resource_tracker as python_tracker

    from joblib.externals.loky.backend import resource_tracker as loky_tracker

    # Start the trackers first: Python would start them on demand and then unblock the signal.
    python_tracker.ensure_running()
    loky_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    _Interrupts.held = True  # another thread may get the signal
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        _Interrupts.held = False
    if _Interrupts.depth and _Interrupts.heard is not None:
        raise KeyboardInterrupt


@contextmanager
def one_interrupt(signals: Sequence[int] = (signal.SIGINT,)) -> Iterator[None]:
    """A context in which the first signal raises KeyboardInterrupt and later signals do nothing.

    A second signal would interrupt the clean-up after the first. The context does nothing outside
    the main thread, and does not change signals that are ignored or have another handler.
    """
    mine = [number for number in signals if signal.getsignal(number) in _DEFAULTS]
    if threading.current_thread() is not threading.main_thread() or not mine:
        yield
        return

    def once(number: int, _: object) -> None:
        for each in mine:
            signal.signal(each, signal.SIG_IGN)
        _Interrupts.heard = number
        if not _Interrupts.held:
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
def stdout_to_stderr() -> Iterator[None]:
    """A context that redirects what agents print to stderr, because stdout is for the result.

    The context also redirects file descriptor 1, for code that does not use ``sys.stdout``.
    """
    if sys.stdout is not None:
        sys.stdout.flush()
    kept = -1
    with suppress(OSError):  # the process may have started without a standard stream
        kept = os.dup(1)
        os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        for stream in (sys.stdout, sys.__stdout__):
            with suppress(OSError, ValueError, AttributeError):
                stream.flush()  # type: ignore[union-attr]  # before descriptor 1 is restored
        with suppress(OSError):
            os.dup2(kept, 1)
            os.close(kept)


@contextmanager
def place_restored() -> Iterator[None]:
    """A context that restores the working folder and ``sys.path``, which an agent may change."""
    path = list(sys.path)
    folder = None
    with suppress(OSError):  # the folder may have been removed
        folder = os.getcwd()
    try:
        yield
    finally:
        sys.path[:] = path
        if folder is not None:
            with suppress(OSError):
                os.chdir(folder)
