"""A program that answers lines, and the base class of agents that use such a program.

The program never outlives this process. A supervisor process (``supervisor``) starts the program.
The supervisor ends the program and its children when this process closes or discards the program,
exits or is killed.
"""

from __future__ import annotations

import abc
import os
import select
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from c4env.agents.errors import EngineFault, LateAnswer

from ...base import Agent

SUPERVISOR: Final = str(Path(__file__).with_name("supervisor.py"))
LONGEST_LINE: Final = 1 << 16  # bytes
STDERR_KEPT: Final = 2000  # bytes to keep of standard error, from its end
END_TIMEOUT: Final = 10.0  # seconds for the supervisor to end everything
EXIT_TIMEOUT: Final = 1.0  # seconds to wait for the exit of a program that has closed its output


class LineProcess:
    """A running program that answers each input line with an output line.

    Args:
        command: the program and its arguments, run without a shell.
        title: the program's name in errors.

    Raises:
        EngineFault: the system is not POSIX.
    """

    def __init__(self, command: Sequence[str], title: str) -> None:
        if os.name != "posix":
            raise EngineFault(f"{title}: this agent needs a POSIX system (Linux, macOS)")
        self.title = title
        self._answers = b""
        self._stderr = b""
        supervisor_end, owner_end = os.pipe()
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", SUPERVISOR, str(supervisor_end), *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                pass_fds=[supervisor_end],
                start_new_session=True,  # so that Ctrl-C does not reach the program
            )
        except BaseException:
            os.close(owner_end)
            raise
        finally:
            os.close(supervisor_end)
        self._open: list[Any] = [self._process.stdout, self._process.stderr]
        # Runs also when the agent is garbage-collected, and when the interpreter exits.
        self._end = weakref.finalize(self, _end, self._process, owner_end)

    def ask(self, line: str, seconds: float) -> str:
        """Send a line and return the program's answer.

        Raises:
            LateAnswer: no answer within ``seconds``.
            EngineFault: the program ended, or wrote a line without a request.
        """
        deadline = time.monotonic() + seconds
        going = self._read(0.0)
        if self._answers:
            said = self._answers[:80].decode(errors="replace")
            raise self._fault(f"wrote {said!r} without a request")
        if not going:
            raise self._fault(self._how_it_ended())
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line.encode() + b"\n")
        except BrokenPipeError:
            raise self._fault(self._how_it_ended()) from None
        while b"\n" not in self._answers:
            if not self._read(max(0.0, deadline - time.monotonic())):
                raise self._fault(self._how_it_ended())
            if len(self._answers) > LONGEST_LINE:
                raise self._fault(f"answered a line of more than {LONGEST_LINE} bytes")
            if time.monotonic() >= deadline and b"\n" not in self._answers:
                self.close()
                raise LateAnswer(f"{self.title} gave no answer within {seconds:g} s")
        answer, _, self._answers = self._answers.partition(b"\n")
        return answer.decode(errors="replace").strip()

    def close(self) -> None:
        """End the program and all processes that it started; a second call does nothing."""
        self._end()

    def _fault(self, words: str) -> EngineFault:
        self.close()
        return EngineFault(f"{self.title} {words}")

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
        """Describe how the program ended."""
        deadline = time.monotonic() + EXIT_TIMEOUT
        while self._open and (left := deadline - time.monotonic()) > 0:
            self._read(left)
        try:
            code = self._process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            ending = "closed its output"
        else:
            ending = f"ended with exit code {code}"
            if code > 128 and code - 128 in set(signal.Signals):
                ending = f"was ended by signal {signal.Signals(code - 128).name}"
        lines = self._stderr.decode(errors="replace").split("\n")
        last = [line.strip() for line in lines if line.strip()][-1:]
        return ": ".join([ending, *last])


def _end(process: subprocess.Popen[bytes], owner_end: int) -> None:
    """End the program by closing the supervisor's pipe, and wait for the supervisor."""
    os.close(owner_end)
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()
    try:
        process.wait(END_TIMEOUT)
    except subprocess.TimeoutExpired:  # a process cannot be killed; do not wait for it
        process.kill()
        process.wait()


class ProcessAgent(Agent):
    """Base class of agents that ask a program for moves; the first request starts the program."""

    settings_are_all = True  # a copy starts its own program
    _process: LineProcess | None = None

    def reseed(self, seed: int) -> None:
        """Do nothing: a program gets a seed for each game, not for each move."""

    @abc.abstractmethod
    def _start(self) -> LineProcess:
        """Start the program."""

    def _ask(self, line: str, seconds: float, startup: float) -> str:
        """Send a line and return the answer; a process's first answer has ``startup`` more seconds.

        Raises:
            EngineFault: the program crashed or was late. A late program is ended.
        """
        if self._process is None:
            self._process = self._start()
            seconds += startup
        try:
            return self._process.ask(line, seconds)
        except BaseException:  # also on timeout: the program may still answer
            self.close()
            raise

    def close(self) -> None:
        """End the program; the next request starts the program again."""
        if self._process is not None:
            self._process.close()
        self._process = None
