"""Handle Ctrl-C, the end of processes, and process settings that an agent's code changes.

Workers import this module before all others, so it has few imports.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from typing import Any, Final, NamedTuple, Self, TextIO

import numpy as np

ENDINGS: Final = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
"""Signals that ask a command to end."""

_DEFAULTS: Final = (signal.SIG_DFL, signal.default_int_handler)


class Interruption(BaseException):
    """Raised in an agent's code to stop it; ``except Exception`` does not catch it."""


class Worker:
    """Whether this process is a worker (``here``), and the files that it had open at its start."""

    here = False
    files: Sequence[int] = (0, 1, 2)


class _Interrupts:
    """The state of signal handling in this process."""

    heard: int | None = None  # the signal
    handled = False  # a KeyboardInterrupt without a signal comes from an agent
    depth = 0  # nesting of one_interrupt()


def agents_own(error: BaseException) -> bool:
    """Whether an agent's own code raised an error, rather than a signal or a time limit."""
    if isinstance(error, KeyboardInterrupt):
        ignored = signal.getsignal(signal.SIGINT) == signal.SIG_IGN  # a script's background job
        return (_Interrupts.handled or ignored) and _Interrupts.heard is None
    return not isinstance(error, Interruption)


def raise_interrupt() -> None:
    """Raise KeyboardInterrupt again after a signal, in case an agent caught the first one."""
    if _Interrupts.heard is not None:
        raise KeyboardInterrupt


def signal_heard() -> int | None:
    """Return the last signal that :func:`one_interrupt` received, or None."""
    return _Interrupts.heard


@contextmanager
def sigint_blocked() -> Iterator[None]:
    """A context in which new processes start with Ctrl-C blocked.

    The terminal sends Ctrl-C to every process, and each worker would print a traceback. A process
    inherits blocked signals from its parent. If a signal arrives meanwhile, this process handles
    the signal when the context ends.
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
    try:
        with _handlers_held():
            yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _handlers_held() -> Iterator[None]:
    """A context that delays Python's handlers of the signals in ENDINGS until the context ends."""
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
    """A context that hides joblib's traceback when the caller ends joblib's processes.

    If the processes end before joblib's thread has seen a task, the thread raises a harmless
    KeyError (https://github.com/joblib/loky/pull/663).
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
    """Make this worker process end when its parent ends.

    This function also stops joblib from replacing a worker whose memory grows. Agents' tables use
    much memory, and a new worker would have to load the agents again.
    """
    from joblib.externals.loky import process_executor

    process_executor._USE_PSUTIL = False  # with psutil, joblib ends workers that have grown
    _Interrupts.handled = True  # workers start with Ctrl-C blocked
    Worker.here = True
    with suppress(OSError):  # not every system lists files
        Worker.files = [number for number in map(int, os.listdir("/dev/fd")) if _is_open(number)]
    if os.name == "posix":  # elsewhere getppid() does not change when the parent dies
        threading.Thread(target=_leave_with, args=(parent,), daemon=True).start()


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def _leave_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


class _Lent:
    """A wrapper of a stream whose ``close`` does nothing."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def close(self) -> None:
        """Keep the stream open, because other code writes to it."""


@contextmanager
def stdout_to_stderr() -> Iterator[None]:
    """A context that redirects agents' output to stderr, because stdout is for the result.

    The context also redirects file descriptor 1, for code that does not use ``sys.stdout``.
    """
    streams = [stream for stream in (sys.stdout, sys.__stdout__) if stream is not None]

    def flush() -> None:
        for stream in streams:
            with suppress(OSError, ValueError):
                stream.flush()

    flush()
    kept = -1
    with suppress(OSError):  # the process may have started without a standard stream
        kept = os.dup(1)
        os.dup2(2, 1)
    try:
        lent: Any = _Lent(sys.stderr)
        with redirect_stdout(lent), redirect_stderr(lent):
            yield
    finally:
        flush()  # before descriptor 1 is restored
        with suppress(OSError):  # an agent may have closed it
            os.dup2(kept, 1)
            os.close(kept)


SPOILED: Final = "it closed files that it had not opened, or used up all file handles"


def files_here() -> tuple[object, ...]:
    """Return the identities of files open at the start, and whether another file can be opened."""
    found: list[object] = []
    for number in Worker.files:
        try:
            status = os.fstat(number)
            found.append((status.st_dev, status.st_ino))
        except OSError:
            found.append(None)
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        return (*found, False)
    return (*found, True)


_ALARM: Final = hasattr(signal, "setitimer")  # not on Windows


class _Settings(NamedTuple):
    """Process settings that an agent's code can change."""

    recursion: int
    floats: Any  # numpy.geterr()
    filters: list[Any]  # of warnings
    folder: str | None  # None if it was removed
    path: list[str]
    environment: dict[str, str]
    alarm: Any  # the handler of SIGALRM

    @classmethod
    def now(cls) -> Self:
        # Copies: an agent may change the lists in place.
        return cls(
            sys.getrecursionlimit(),
            np.geterr(),
            list(warnings.filters),
            current_folder(),
            list(sys.path),
            dict(os.environ),
            signal.getsignal(signal.SIGALRM) if _ALARM else None,
        )

    def holds(self) -> bool:
        return (
            sys.getrecursionlimit() == self.recursion
            and warnings.filters == self.filters
            and sys.path == self.path
            and len(os.environ) == len(self.environment)  # comparing values is slow
            and np.geterr() == self.floats
            and current_folder() == self.folder
            and (not _ALARM or signal.getsignal(signal.SIGALRM) == self.alarm)
        )

    def restore(self) -> None:
        sys.setrecursionlimit(self.recursion)
        np.seterr(**self.floats)
        if warnings.filters != self.filters:
            with warnings.catch_warnings():  # leaving it clears Python's cache of filters
                pass
            filters: Any = warnings.filters  # a list
            filters[:] = self.filters
        if current_folder() != self.folder and self.folder is not None:
            with suppress(OSError):
                os.chdir(self.folder)
        sys.path[:] = self.path
        for name in os.environ.keys() - self.environment.keys():
            del os.environ[name]
        os.environ.update(self.environment)
        if _ALARM and signal.getsignal(signal.SIGALRM) != self.alarm and self.alarm is not None:
            signal.signal(signal.SIGALRM, self.alarm)


def current_folder() -> str | None:
    """Return the working folder, or None if the folder was removed."""
    try:
        return os.getcwd()
    except OSError:
        return None


class OwnSettings:
    """A context that gives an agent its own process settings, then restores the shared settings.

    Threads share these settings, so agents in threads have no settings of their own.

    Args:
        foreign: whether the agent runs third-party code; if False, the context does nothing.
    """

    def __init__(self, foreign: bool = True) -> None:
        self._foreign = foreign
        self._own: _Settings | None = None
        self.look()

    def look(self) -> None:
        """Store the settings that all code in this process shares."""
        main = threading.current_thread() is threading.main_thread()
        self._active = self._foreign and main
        if self._active:
            self._shared = _Settings.now()
            self._armed = _ALARM and signal.getitimer(signal.ITIMER_REAL)[0] > 0

    def __enter__(self) -> None:
        if not self._active:
            return
        self._lent = sys.stdin, sys.stdout, sys.stderr, sys.excepthook
        self._hooks = sys.gettrace(), sys.getprofile()
        if self._own is not None:
            self._own.restore()

    def __exit__(self, *_: object) -> None:
        if not self._active:
            return
        # Reset the recursion limit first: the agent's limit may not allow a Python call.
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(self._shared.recursion)
        # Restore the streams and hooks; the next agent gets them unchanged.
        sys.stdin, sys.stdout, sys.stderr, sys.excepthook = self._lent
        trace, profile = self._hooks
        if sys.gettrace() is not trace:
            sys.settrace(trace)
        if sys.getprofile() is not profile:
            sys.setprofile(profile)
        if _ALARM and not self._armed and signal.getitimer(signal.ITIMER_REAL)[0]:
            signal.setitimer(signal.ITIMER_REAL, 0)  # else it rings in another agent's move
        if limit == self._shared.recursion and self._own is None and self._shared.holds():
            return
        self._own = _Settings.now()._replace(recursion=limit)
        self._shared.restore()
