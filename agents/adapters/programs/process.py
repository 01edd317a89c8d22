"""A program that answers lines, in a process group of its own."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
import weakref
from collections.abc import Sequence
from typing import Any, Final

from c4env.errors import EngineFault, LateAnswer

LONGEST_LINE: Final = 1 << 16  # bytes
STDERR_KEPT: Final = 2000  # bytes to keep of standard error, from its end
EXIT_TIMEOUT: Final = 1.0  # seconds to wait for the exit of a program that has closed its output


class LineProcess:
    """A running program that answers each input line with an output line.

    The program and its children form a process group, so Ctrl-C does not reach them. The group is
    killed when the object is closed or discarded, and when the interpreter exits. If this process
    is killed, the program's standard input closes, and the program must exit by itself.

    Raises:
        EngineFault: the program cannot be started, or the system is not POSIX.
    """

    def __init__(self, command: Sequence[str], title: str) -> None:
        if os.name != "posix":
            raise EngineFault(f"{title}: this agent needs a POSIX system (Linux, macOS)")
        self.title = title
        self._answers = b""
        self._stderr = b""
        pipe = subprocess.PIPE
        try:
            self._process = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, start_new_session=True
            )
        except OSError as error:
            raise EngineFault(f"cannot start {command[0]}: {error.strerror}") from None
        self._open: list[Any] = [self._process.stdout, self._process.stderr]
        self._end = weakref.finalize(self, _end, self._process)

    def ask(self, line: str, seconds: float) -> str:
        """Send a line and return the program's answer; after an error, close the program.

        Raises:
            LateAnswer: no answer within ``seconds``.
            EngineFault: the program ended, or wrote a line without a request.
        """
        deadline = time.monotonic() + seconds
        going = self._read(0.0)
        if self._answers:
            said = self._answers[:80].decode(errors="replace")
            raise EngineFault(f"{self.title} wrote {said!r} without a request")
        try:
            if going:
                self._process.stdin.write(line.encode() + b"\n")  # type: ignore[union-attr]  # piped
        except BrokenPipeError:
            going = False
        while going and b"\n" not in self._answers:
            going = self._read(max(0.0, deadline - time.monotonic()))
            if len(self._answers) > LONGEST_LINE:
                raise EngineFault(f"{self.title} answered a line of more than {LONGEST_LINE} bytes")
            if going and time.monotonic() >= deadline and b"\n" not in self._answers:
                raise LateAnswer(f"{self.title} gave no answer within {seconds:.3g} s")
        if b"\n" not in self._answers:
            raise EngineFault(f"{self.title} {self._how_it_ended()}")
        answer, _, self._answers = self._answers.partition(b"\n")
        return answer.decode(errors="replace").strip()

    def close(self) -> None:
        """End the program and its process group; a second call does nothing."""
        self._end()

    def _read(self, seconds: float) -> bool:
        """Read output for at most ``seconds``; return False if the output has ended."""
        ready, _, _ = select.select(self._open, [], [], seconds)
        for stream in ready:
            said = os.read(stream.fileno(), LONGEST_LINE)
            if not said:
                self._open.remove(stream)
            elif stream is self._process.stdout:
                self._answers += said
            else:
                self._stderr = (self._stderr + said)[-STDERR_KEPT:]
        return self._process.stdout in self._open

    def _how_it_ended(self) -> str:
        deadline = time.monotonic() + EXIT_TIMEOUT
        while self._open and (left := deadline - time.monotonic()) > 0:
            self._read(left)
        try:
            code = self._process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            ending = "closed its output"
        else:
            ending = f"ended with exit code {code}"
            if code < 0:
                ending = f"was ended by signal {signal.Signals(-code).name}"
        lines = self._stderr.decode(errors="replace").split("\n")
        last = [line.strip() for line in lines if line.strip()][-1:]
        return ": ".join([ending, *last])


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the program's process group, and wait for the program."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    with process:  # closes the pipes, and waits
        pass
