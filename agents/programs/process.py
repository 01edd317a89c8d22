"""A program that answers lines, in its own process group."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from queue import Empty, SimpleQueue
from threading import Thread
from typing import IO, Final, NoReturn

from c4env.errors import EngineFault, LateAnswer

LONGEST_LINE: Final = 1 << 16  # bytes
STDERR_KEPT: Final = 20  # lines of standard error
EXIT_TIMEOUT: Final = 1.0  # seconds to wait for the exit of a program that has closed its output
LOOK: Final = 0.05  # seconds without an answer between two checks whether the program has failed
HAS_GROUPS: Final = os.name == "posix"


class LineProcess:
    """A running program that answers each input line with an output line.

    If the system has process groups, the program and its children form a group, so Ctrl-C does not
    reach them. The group is killed when the object is closed or discarded, and when the interpreter
    exits. If this process is killed, the program's standard input closes, and the program must
    exit. A fork of this process cannot ask the program, and does not end it.

    Raises:
        EngineFault: the program cannot be started.
    """

    def __init__(
        self,
        command: Sequence[str],
        title: str,
        stderr: int | None = subprocess.PIPE,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self.title = title
        self._owner = os.getpid()
        pipe = subprocess.PIPE
        try:
            self._process = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=stderr, bufsize=0, env=variables,
                start_new_session=HAS_GROUPS,
            )  # fmt: skip
        except OSError as error:
            raise EngineFault(f"cannot start {command[0]}: {error.strerror}", "crash") from None
        self._answers = SimpleQueue[bytes]()
        self._complaints = deque[bytes](maxlen=STDERR_KEPT)  # the last lines of standard error
        self._readers = [
            _reader(self._process.stdout, self._answers.put),
            _reader(self._process.stderr, self._complaints.append),
        ]
        self._end = weakref.finalize(self, _end, self._process, self._owner)

    @property
    def is_shared(self) -> bool:
        """Whether this process is a fork of the process that started the program."""
        return self._owner != os.getpid()

    def ask(self, line: str, seconds: float) -> str:
        """Send a line and return the program's answer; after an error, close the program.

        Raises:
            LateAnswer: no answer within ``seconds``.
            EngineFault: the program ended, the program wrote a line without a request, or another
                process started it.
        """
        if self.is_shared:
            raise EngineFault(
                f"{self.title} answers process {self._owner}, which started it: process "
                f"{os.getpid()} is a fork, and has to start its own"
            )
        if not self._answers.empty():
            self._refuse(self._answers.get())
        with contextlib.suppress(OSError):  # an ended program is noticed when it does not answer
            self._process.stdin.write(line.encode() + b"\n")  # type: ignore[union-attr]  # piped
        answer = self._next_line(seconds)
        if len(answer) == LONGEST_LINE:
            what = f"a line of more than {LONGEST_LINE} bytes"
            raise EngineFault(f"{self.title} answered {what}", "unreadable")
        if not answer.endswith(b"\n"):
            raise EngineFault(f"{self.title} {self._how_it_ended()}", "crash")
        return answer.decode(errors="replace").strip()

    def _next_line(self, seconds: float) -> bytes:
        """Return the program's next line, without its end if the program ends before that.

        After a program has failed, its output may stay open, because a child of the program may
        hold it. After a program has ended without an error, as a launcher does, its child may
        answer.
        """
        deadline, has_failed = time.monotonic() + seconds, False
        while True:
            left = max(0.0, deadline - time.monotonic())
            try:
                return self._answers.get(timeout=min(left, LOOK))
            except Empty:
                if has_failed:  # and all that it wrote is read
                    return b""
                if left <= LOOK:
                    late = f"{self.title} gave no answer within {seconds:.3g} s"
                    raise LateAnswer(late) from None
            has_failed = bool(self._process.poll())

    def require_silence(self, pause: float) -> None:
        """Wait for ``pause`` seconds.

        Raises:
            EngineFault: the program ends or writes a line meanwhile.
        """
        with contextlib.suppress(Empty):
            self._refuse(self._answers.get(timeout=pause))

    def finish(self, pause: float, seconds: float) -> None:
        """Close the program's input, and wait for its end.

        Raises:
            EngineFault: the program ends or writes a line within ``pause`` before its input closes,
                or goes on for ``seconds`` after that.
        """
        self.require_silence(pause)
        self._process.stdin.close()  # type: ignore[union-attr]  # piped
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise EngineFault(
                f"{self.title} goes on {seconds:g} s after the end of its input"
            ) from None

    def close(self) -> None:
        """End the program and its process group; a second call does nothing."""
        self._end()

    def _refuse(self, line: bytes) -> NoReturn:
        """Raise the error about a line without a request, or about the end of the output."""
        if not line:
            raise EngineFault(f"{self.title} {self._how_it_ended()}", "crash")
        text = line[:80].decode(errors="replace")
        raise EngineFault(f"{self.title} wrote {text!r} without a request")

    def _how_it_ended(self) -> str:
        try:
            code = self._process.wait(EXIT_TIMEOUT)
        except subprocess.TimeoutExpired:
            ending = "closed its output"
        else:
            ending = f"ended with exit code {code}"
            if code < 0:
                ending = f"was ended by signal {signal.Signals(-code).name}"
        self.close()  # also the children, which may hold the outputs
        for reader in self._readers:
            reader.join(EXIT_TIMEOUT)
        lines = [line.decode(errors="replace").strip() for line in self._complaints]
        return ": ".join([ending, *[line for line in lines if line][-1:]])


def _reader(stream: IO[bytes] | None, put: Callable[[bytes], object]) -> Thread:
    """Start a thread that passes on each line of a stream, and an empty line at its end."""

    def read() -> None:
        with contextlib.suppress(ValueError), stream or contextlib.nullcontext():
            while stream and (line := stream.readline(LONGEST_LINE)):
                put(line)
        put(b"")

    thread = Thread(target=read, daemon=True)
    thread.start()
    return thread


def _end(process: subprocess.Popen[bytes], owner: int) -> None:
    """Kill the program's process group, and wait for the program; a fork only closes its pipe."""
    if owner == os.getpid():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL) if HAS_GROUPS else process.kill()
        process.wait()
    with contextlib.suppress(OSError):
        process.stdin.close()  # type: ignore[union-attr]  # piped
