"""The life of processes: who hears Ctrl-C, who ends when, and what agents' code changes in one.

The module is small because workers import it before all else.
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
"""Signals by which somebody asks a command to end."""

_DEFAULTS: Final = (signal.SIG_DFL, signal.default_int_handler)


class Interruption(BaseException):
    """Raised into an agent's code from outside, to stop it; no ``except Exception`` holds it up."""


class Worker:
    """Whether this process is a worker of this machine, which may end itself, and its files."""

    here = False
    files: Sequence[int] = (0, 1, 2)


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
    Worker.here = True
    with suppress(OSError):  # where a system lists them
        Worker.files = [number for number in map(int, os.listdir("/dev/fd")) if _is_open(number)]
    if os.name == "posix":  # elsewhere the number of a parent that died stays
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
    """A stream that the one it is lent to cannot close."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def close(self) -> None:
        """Leave it open: others write to it."""


@contextmanager
def stdout_to_stderr() -> Iterator[None]:
    """What agents print goes to stderr, whatever they do to stdout: that is for the answer.

    Descriptor 1 is redirected with the stream, for what writes to it past Python's ``sys.stdout``.
    """
    streams = [stream for stream in (sys.stdout, sys.__stdout__) if stream is not None]

    def flush() -> None:
        for stream in streams:
            with suppress(OSError, ValueError):
                stream.flush()

    flush()
    kept = -1
    with suppress(OSError):  # the process was started without one of them
        kept = os.dup(1)
        os.dup2(2, 1)
    try:
        lent: Any = _Lent(sys.stderr)
        with redirect_stdout(lent), redirect_stderr(lent):
            yield
    finally:
        flush()  # what was written to sys.__stdout__, before the descriptor is the answer's again
        with suppress(OSError):  # an agent may have closed it
            os.dup2(kept, 1)
            os.close(kept)


SPOILED: Final = "it closed files of its process that are not its own, or left it none to open"


def files_here() -> tuple[object, ...]:
    """What the files are that are not an agent's, and whether the process can open another."""
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
    """Settings of the process that an agent's code can change for all that runs after it."""

    recursion: int
    floats: Any  # numpy.geterr()
    filters: list[Any]  # of warnings
    folder: str | None  # None where it was removed
    path: list[str]
    environment: dict[str, str]
    alarm: Any  # who handles SIGALRM

    @classmethod
    def now(cls) -> Self:
        # Lists: the old ones may be changed in place.
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
            with warnings.catch_warnings():  # on leaving, Python forgets what it kept by filter
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
    """The folder that relative paths begin at; None where it was removed."""
    try:
        return os.getcwd()
    except OSError:
        return None


class OwnSettings:
    """The settings of the process that an agent made: in force within, and for nobody else.

    Threads share them, so where agents are asked in threads they are left alone.

    Args:
        foreign: whether it is code of others; that of the zoo changes nothing.
    """

    def __init__(self, foreign: bool = True) -> None:
        self._foreign = foreign
        self._own: _Settings | None = None
        self.look()

    def look(self) -> None:
        """Learn everybody's settings."""
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
        # First of all, and without a call of Python's, which the limit may not allow.
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(self._shared.recursion)
        # Nobody's own: they are handed out anew.
        sys.stdin, sys.stdout, sys.stderr, sys.excepthook = self._lent
        trace, profile = self._hooks
        if sys.gettrace() is not trace:
            sys.settrace(trace)
        if sys.getprofile() is not profile:
            sys.setprofile(profile)
        if _ALARM and not self._armed and signal.getitimer(signal.ITIMER_REAL)[0]:
            signal.setitimer(signal.ITIMER_REAL, 0)  # it would ring in somebody else's move
        if limit == self._shared.recursion and self._own is None and self._shared.holds():
            return
        self._own = _Settings.now()._replace(recursion=limit)
        self._shared.restore()
