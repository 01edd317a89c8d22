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


def signal_heard() -> int | None:
    """Return the last signal that :func:`one_interrupt` received, or None."""
    return _Interrupts.heard


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

    _Interrupts.heard = None
    before = {number: signal.signal(number, once) for number in mine}
    try:
        yield
    finally:
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
