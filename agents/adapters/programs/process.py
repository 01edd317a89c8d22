"""A program that is asked and answers in lines, and an agent that has one.

The program never outlives its owner: a small process of ours (``supervisor``) starts it and ends
it, and all it started, as soon as the owner closes it, forgets it, exits or is killed.
"""

from __future__ import annotations

__any_board__ = True

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

from c4env.agents.base import Agent
from c4env.agents.errors import EngineFault, LateAnswer

SUPERVISOR: Final = str(Path(__file__).with_name("supervisor.py"))
LONGEST_LINE: Final = 1 << 16  # bytes
STDERR_KEPT: Final = 2000  # bytes, the last ones
END_TIMEOUT: Final = 10.0  # seconds for the supervisor to end everything
EXIT_TIMEOUT: Final = 1.0  # seconds to end in, for a program that closed its output


class LineProcess:
    """A running program: a line in, a line out.

    Args:
        command: the program and its arguments; no shell comes between.
        title: what errors call it.

    Raises:
        EngineFault: this system cannot hold such processes.
    """

    def __init__(self, command: Sequence[str], title: str) -> None:
        if os.name != "posix":
            raise EngineFault(f"{title}: programs as agents need a POSIX system (Linux, macOS)")
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
                start_new_session=True,  # an interrupt from the keyboard is for the run alone
            )
        except BaseException:
            os.close(owner_end)
            raise
        finally:
            os.close(supervisor_end)
        self._open: list[Any] = [self._process.stdout, self._process.stderr]
        # Also when the agent is forgotten, and at the end of the interpreter.
        self._end = weakref.finalize(self, _end, self._process, owner_end)

    def ask(self, line: str, seconds: float) -> str:
        """Send a line and wait for the one that answers it.

        Raises:
            LateAnswer: no answer in so many seconds.
            EngineFault: the program ended, or said something before it was asked.
        """
        deadline = time.monotonic() + seconds
        going = self._read(0.0)
        if self._answers:
            said = self._answers[:80].decode(errors="replace")
            raise self._fault(f"said {said!r} without being asked")
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
        """End the program and all that it started; harmless when it is over already."""
        self._end()

    def _fault(self, words: str) -> EngineFault:
        self.close()
        return EngineFault(f"{self.title} {words}")

    def _read(self, seconds: float) -> bool:
        """Take in what it says within so many seconds; False when its output has ended."""
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
        """How a program whose output ended came to its end."""
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
    """Let go of the supervisor, which ends the rest, and wait for it."""
    os.close(owner_end)
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()
    try:
        process.wait(END_TIMEOUT)
    except subprocess.TimeoutExpired:  # something cannot be killed; do not wait for it too
        process.kill()
        process.wait()


class ProcessAgent(Agent):
    """An agent that plays by asking a program, started when it is first needed."""

    settings_are_all = True  # a copy starts a program of its own
    _process: LineProcess | None = None

    def reseed(self, seed: int) -> None:
        """Nothing: a program is told of games, not of moves, and draws by itself."""

    @abc.abstractmethod
    def _start(self) -> LineProcess:
        """A fresh program."""

    def _ask(self, line: str, seconds: float, startup: float) -> str:
        """The program's answer; a program just started may take ``startup`` seconds more.

        Raises:
            EngineFault: it crashed, or has not answered in time; it is ended then.
        """
        if self._process is None:
            self._process = self._start()
            seconds += startup
        try:
            return self._process.ask(line, seconds)
        except BaseException:  # also when the time of the match is over: it may answer yet
            self.close()
            raise

    def close(self) -> None:
        """End the program; the next question starts another."""
        if self._process is not None:
            self._process.close()
        self._process = None
