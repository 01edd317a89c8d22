"""``exec:COMMAND``: a program in any language as an agent; it reads and writes lines of text."""

from __future__ import annotations

import contextlib
import math
import os
import shlex
import shutil
import time
from collections.abc import Callable
from typing import Any, Final, Literal

import numpy as np

from c4env.agents.base import Agent, as_number, require_move
from c4env.agents.making.import_path import file_hint
from c4env.agents.making.options import Command, Seconds, validate_args
from c4env.agents.programs.process import LineProcess
from c4env.errors import EngineFault, Failure, InvalidOption, LateAnswer
from c4env.geometry import IS_STANDARD
from c4env.position import DIGITS, Position
from c4env.rules import CENTRE_FIRST, COLUMNS

STARTUP: Final = 20.0  # seconds for a program to load and compile, beyond the time of a move
PAUSE: Final = 0.2  # seconds in which a line without a request is noticed
EXIT: Final = 2.0  # seconds for a program to end after its input
ALMOST_FULL: Final = "23576131735216644664554473214136522757713" if IS_STANDARD else ""
"""A position with one empty cell, in which an answer takes no time."""


class Engine(Agent):
    """Plays the moves of a program; ``docs/guides/other-programs.md`` describes the protocol.

    The first request starts the program. The first move of a process, and the reset before it, may
    take ``STARTUP`` seconds more than a later move.

    Args:
        command: the program and its arguments. A command is split as in a shell.
        reply: form of the answer: column, scores or score. With scores, an answer ends with a score
            for each of the seven columns. With score, the program gets the position after each
            legal column in turn, and answers a score for the side to move.
        timeout: seconds for a move.
        newgame: action before each game: none, reset (send the line ``reset SEED``) or restart.

    Raises:
        InvalidOption: the program does not exist, or an option's value is not allowed.
    """

    line = ""  # the last line that the program got
    limit = math.inf  # seconds that a run allows for a move, including a start
    on_load: Callable[[], None] | None = None  # called before the program starts
    _process: LineProcess | None = None
    _moved = False  # whether the process has moved
    _allowed = 0.0  # seconds for the move
    _deadline = 0.0  # of the move, on the monotonic clock

    @validate_args
    def __init__(
        self,
        command: Command,
        reply: Literal["column", "scores", "score"] = "column",
        timeout: Seconds = 10.0,
        newgame: Literal["none", "reset", "restart"] = "none",
    ) -> None:
        try:
            self.command = shlex.split(command)
        except ValueError as error:
            raise InvalidOption(f"exec: command={command!r}: {error}") from None
        if not self.command or shutil.which(self.command[0]) is None:
            hint = file_hint(command, f"exec:./{command}") if "/" not in command else ""
            missing = (
                self.command and "/" in self.command[0] and not os.path.exists(self.command[0])
            )
            what = f": {self.command[0]} does not exist" if missing else ""
            raise InvalidOption(
                f"exec: command={command!r}{what}: expected an executable program{hint}"
            )
        self.title = command
        self.reply = reply
        self.timeout = timeout
        self.newgame = newgame

    def __getstate__(self) -> dict[str, Any]:
        """Return the state of a copy, which starts its own program."""
        return vars(self) | {"_process": None, "_moved": False}

    def reset(self, seed: int | np.random.SeedSequence | None = None) -> None:
        """Begin a new game; notify the program as the option ``newgame`` says."""
        if self.newgame == "restart" or self._is_shared:
            self.close()
        if self.newgame == "reset":
            number = as_number(seed)
            self._ask("reset" if number is None else f"reset {number}", self._seconds())

    def ready(self) -> None:
        """Check that the program answers one of two lines by one line, and end the program.

        Raises:
            EngineFault: the program fails at both lines. If it fails at one line, no error is
                raised, and a run counts its failures as forfeits.
        """
        faults = []
        for line in (ALMOST_FULL, ""):
            after = ""
            try:
                with contextlib.suppress(LateAnswer):
                    self.reset(0)
                    after = f", after the answer {self._ask(line, self._seconds())!r}"
                if self._process is not None:  # a greeting looks like an answer before the answer
                    self._process.require_silence(PAUSE)
                break
            except EngineFault as error:
                faults.append(EngineFault(f"{error}{after}", error.ending))
                self.close()
        self.close()
        if len(faults) > 1:
            raise faults[0]

    @property
    def _is_shared(self) -> bool:
        """Whether this process was forked while the program ran; a fork starts its own program."""
        return self._process is not None and self._process.is_shared

    def finish(self) -> None:
        """Close the program's input; check that the program ends, and writes no line before.

        Raises:
            EngineFault: the program goes on, or writes a line.
        """
        if self._process is not None:
            self._process.finish(PAUSE, EXIT)
        self.close()

    def close(self) -> None:
        """End the program; the next request starts the program again."""
        if self._process is not None:
            self._process.close()
        self._process = None
        self._moved = False

    def choose(self, position: Position) -> int:
        """Return the program's column; set :attr:`nodes` if the program reports nodes.

        Raises:
            EngineFault: the program ended or crashed, or its answer is not a legal column.
            LateAnswer: the answer took longer than ``timeout``.
        """
        require_move(position)
        if self._is_shared:
            self.close()
        self.nodes = 0
        self._allowed = min(self.limit, self._seconds())
        self._deadline = time.monotonic() + self._allowed
        if self.reply == "column":
            column = self._column(position)
        else:  # ties go to the centre, then to the left
            scores = self._scores(position)
            column = max((c for c in CENTRE_FIRST if c in scores), key=scores.__getitem__)
        self._moved = True
        return column

    def _column(self, position: Position) -> int:
        words = self._words(position)
        if len(words) != 1 or words[0] not in tuple(DIGITS):
            expected = f"one column 1..{DIGITS[-1]} (reply=scores or reply=score reads scores)"
            if words == ["0"]:
                expected = (
                    f"one column 1..{DIGITS[-1]}: a program that counts from 0 adds 1 to its "
                    "answer, and subtracts 1 from each column that it reads"
                )
            raise self._wrong(" ".join(words), expected)
        column = DIGITS.index(words[0])
        if not position.is_legal(column):
            raise self._wrong(words[0], "a column that is not full", "illegal column")
        return column

    def _scores(self, position: Position) -> dict[int, float]:
        """Return the score of each legal column for the side to move."""
        if self.reply == "scores":
            words = self._words(position)[-COLUMNS:]
            if len(words) < COLUMNS:
                raise self._wrong(" ".join(words), "a score of each of the seven columns")
            return {column: self._number(words[column]) for column in position.legal_columns()}
        scores = {}
        for column in position.legal_columns():
            after = position.play(column)
            if after.outcome is None:
                words = self._words(after)
                scores[column] = -self._number(words[0] if words else "")
            else:
                scores[column] = 0.0 if after.outcome.winner is None else math.inf
        return scores

    def _words(self, position: Position) -> list[str]:
        """Request an answer; return its words except ``key=value`` and a repeated position.

        With seven scores only the last seven words count, so a repeated position is not removed.
        """
        moves = position.moves()
        left = max(0.0, self._deadline - time.monotonic())
        answer = self._ask(moves, self._allowed, left)
        words = []
        for word in answer.split():
            key, equals, value = word.partition("=")
            if not equals:
                words.append(word)
            elif key == "nodes" and value.isdecimal():
                self.nodes += int(value)
        repeats = self.reply != "scores" and len(words) > 1 and words[0] == moves
        return words[1:] if repeats else words

    def _number(self, word: str) -> float:
        with contextlib.suppress(ValueError):
            if not math.isnan(score := float(word)):
                return score
        raise self._wrong(word, "a score, which is a number")

    def _wrong(self, answer: str, expected: str, ending: Failure = "unreadable") -> EngineFault:
        """End the program, and return an error about an unexpected answer."""
        self.close()  # later answers may belong to earlier requests
        return EngineFault(f"{self.title} answered {answer[:80]!r}: expected {expected}", ending)

    def _seconds(self) -> float:
        """Return the seconds for a move or a reset, including a start."""
        return self.timeout if self._moved else self.timeout + STARTUP

    def _ask(self, line: str, seconds: float, left: float | None = None) -> str:
        """Send a line and return the answer; an error, or an interrupt, ends the program.

        A move has ``seconds``, of which ``left`` are left for this request.
        """
        if self._process is None:
            if self.on_load is not None:
                self.on_load()
            self._process = LineProcess(self.command, self.title)
        self.line = line
        try:
            answer = self._process.ask(line, seconds if left is None else left)
            if answer.startswith("error"):
                raise EngineFault(f"{self.title} answered {answer[:300]!r}")
        except LateAnswer:
            hint = "" if self._moved else "; does it flush its output?"
            self.close()
            raise LateAnswer(f"{self.title} gave no answer within {seconds:.3g} s{hint}") from None
        except BaseException:
            self.close()
            raise
        return answer
