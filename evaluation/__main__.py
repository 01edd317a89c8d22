"""The command line: ``c4``, or ``python -m c4env.evaluation``."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Final

from c4env.boards import use_board
from c4env.errors import C4Error, InvalidOption, UnknownAgent, suggest
from c4env.evaluation.cli import COMMANDS, GROUPS, module_of
from c4env.evaluation.cli.declare import Parser, require_writable
from c4env.evaluation.cli.output import complain, reader_may_end
from c4env.system import COMMAND, SILENT, __version__

ENDINGS: Final = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
"""Signals that ask a command to end."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    Args:
        arguments: the command and its arguments. None reads ``sys.argv``, and ends the process
            after the command.

    Returns:
        0 for success, 2 for bad input, or 128 + N if signal N ended the command.
    """
    if arguments is not None:
        return _execute(list(arguments))
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # Until the command handles Ctrl-C, Ctrl-C ends the process without a traceback.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the shell, or never open, as in a service
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # escape names that the stream cannot encode
            stream.reconfigure(errors="backslashreplace")
    try:
        with _one_interrupt():
            code = _execute(sys.argv[1:])
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            _leave(code)
    except KeyboardInterrupt:  # Ctrl-C after the command had ended
        _leave(128 + signal.SIGINT)
    return 0  # not reached: the process has ended


class _Interrupt(KeyboardInterrupt):
    """The interrupt by a signal."""

    number: int = signal.SIGINT


@contextmanager
def _one_interrupt() -> Iterator[None]:
    """A context in which the first signal raises KeyboardInterrupt and later signals do nothing.

    A second signal would interrupt the clean-up after the first. The context does nothing outside
    the main thread, and does not change signals that are ignored or have another handler.
    """
    defaults = (signal.SIG_DFL, signal.default_int_handler)
    changed = [number for number in ENDINGS if signal.getsignal(number) in defaults]
    if threading.current_thread() is not threading.main_thread():
        changed = []

    def interrupt(number: int, _: object) -> None:
        for other in changed:
            signal.signal(other, signal.SIG_IGN)
        error = _Interrupt()
        error.number = number
        raise error

    handlers = {number: signal.signal(number, interrupt) for number in changed}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _leave(code: int) -> None:
    """End the process, without waiting for threads or exit handlers of agents."""
    if "c4env.jit" in sys.modules:
        sys.modules["c4env.jit"].remove_temporary()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)


def _execute(words: list[str]) -> int:
    """Run a command; report an error in one line."""
    parser = Parser(
        prog="c4",
        description="Play Connect Four agents against each other.",
        epilog="\n\n".join(map(_list_commands, GROUPS)),
    )
    parser.add_argument("command", metavar="COMMAND", help="c4 help COMMAND describes a command")
    parser.add_argument("--version", action="version", version=f"c4env {__version__}")
    if words[:1] == ["help"]:  # c4 help run is c4 run --help
        words = [*words[1:], "--help"]
    if not words:
        parser.print_help()
        return 0
    name = parser.parse_args(words[:1]).command
    before = COMMAND.set(("c4", *words))
    try:
        Path.cwd()
    except FileNotFoundError:
        parser.error("the working folder was deleted: expected an existing one")
    try:
        if name not in COMMANDS:
            expected = f"; expected {', '.join(COMMANDS)}"
            parser.error(f"unknown command {name!r}{suggest(name, COMMANDS, expected)}")
        return _execute_command(name, words[1:])
    except C4Error as error:
        message = f"{error}{_quote(words, str(error)) if isinstance(error, UnknownAgent) else ''}"
        complain(f"c4 {name}: {' '.join(message.split())}")
        return 2
    except OSError as error:
        where = "" if error.filename is None else f"{error.filename}: "
        complain(f"c4 {name}: {where}{error.strerror or error}")
        return 2
    except KeyboardInterrupt as stop:
        number = signal.Signals(getattr(stop, "number", signal.SIGINT))
        by = "" if number == signal.SIGINT else f" by {number.name}"
        kept = f"; {stop}" if stop.args else ""  # what was kept, and how to resume
        complain(f"c4 {name}: interrupted{by}{kept}")
        return 128 + number
    finally:
        COMMAND.reset(before)


def _quote(words: list[str], message: str) -> str:
    """Return the advice to quote a program with its arguments, if the unknown agent is one."""
    for before, word in pairwise(words):
        if re.match(r"([^=:/]+=)?exec:\S+$", before) and f"agent {word!r}" in message:
            return f"; quote a command with arguments: '{before} {word}'"
    return ""


def _list_commands(group: str) -> str:
    lines = [f"  {name:<15} {summary}" for name, summary in GROUPS[group].items()]
    return "\n".join([f"{group}:", *lines])


def _execute_command(name: str, words: list[str]) -> int:
    """Parse the arguments of a command and run it, on the board that ``--board`` names."""
    first = argparse.ArgumentParser(prog=f"c4 {name}", add_help=False, exit_on_error=False)
    first.add_argument("--board")
    with contextlib.suppress(argparse.ArgumentError):  # the command's own parser reports it
        if size := first.parse_known_args(words)[0].board:
            use_board(size)  # before the command imports it
    from c4env.geometry import require_standard

    command = module_of(name)
    parser = Parser(prog=f"c4 {name}", description=command.__doc__)
    command.configure(parser)
    arguments = parser.parse_args(words)
    if not hasattr(arguments, "board"):
        require_standard(f"c4 {name}")
    require_writable(arguments)
    if getattr(arguments, "quiet", False):
        os.environ[SILENT] = "1"
    code = 0
    try:
        with reader_may_end():
            code = int(command.execute(arguments) or 0)
    except InvalidOption as error:
        raise InvalidOption(parser.as_typed(str(error))) from error
    return code


if __name__ == "__main__":
    sys.exit(main())
