"""``exec:COMMAND``: an agent that is a program, in any language, with text input and output."""

from __future__ import annotations

import contextlib
import math
import shlex
import shutil
import time
from collections.abc import Callable
from typing import Final, Literal

import numpy as np

from c4env.agents.adapters.programs.process import LineProcess
from c4env.agents.registry.imports import file_hint
from c4env.errors import EngineFault, InvalidOption, LateAnswer

from ....bitboard import CENTRE_FIRST, COLUMNS
from ....geometry import IS_STANDARD
from ....position import DIGITS, Position
from ...base import Agent, as_number, require_move
from ...registry.options import Seconds, validate_args

STARTUP: Final = 20.0  # seconds for a program to load and compile, beyond the time of a move
LAST: Final = "23576131735216644664554473214136522757713" if IS_STANDARD else ""
"""A position with one empty cell, in which an answer takes no time."""


class Engine(Agent):
    """Plays the moves of a program; ``docs/guides/other-programs.md`` describes the protocol.

    The first request starts the program. The first move of a process may take ``STARTUP`` seconds
    more than a later move, and so may the reset before it.

    Args:
        command: the program and its arguments. They are split as in a shell.
        reply: form of the answer: column, scores or score. With scores, an answer ends with a score
            for each of the seven columns. With score, the program gets the position after each
            legal column in turn, and answers a score for the side to move.
        timeout: seconds for a move.
        newgame: action before each game: none, reset (send the line ``reset SEED``) or restart.

    Raises:
        InvalidOption: the program does not exist, or an option's value is not allowed.
    """

    state_attrs = ()  # a copy starts its own program
    _process: LineProcess | None = None
    _moved = False  # the process has moved
    _deadline = 0.0  # of the move, on the monotonic clock

    @validate_args
    def __init__(
        self,
        command: str,
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
            raise InvalidOption(f"exec: command={command!r}: expected an executable program{hint}")
        self.title = self.command[0]
        self.reply = reply
        self.timeout = timeout
        self.newgame = newgame

    def reset(self, seed: int | np.random.SeedSequence | None = None) -> None:
        """Begin a new game; notify the program as the option ``newgame`` says.

        Raises:
            EngineFault: the program did not acknowledge the reset.
        """
        if self.newgame == "restart":
            self.close()
        elif self.newgame == "reset":
            number = as_number(seed)
            self._ask("reset" if number is None else f"reset {number}", self._seconds())

    def ready(self) -> None:
        """Check that the program starts and answers a line, and end it.

        Raises:
            EngineFault: the program does not start, or ends.
        """
        with contextlib.suppress(LateAnswer):
            self.reset(0)
            self._ask(LAST, self._seconds())
        self.close()

    def reseed(self, seed: int) -> None:
        """Do nothing: a program gets a seed for each game, not for each move."""

    def close(self) -> None:
        """End the program; the next request starts the program again."""
        if self._process is not None:
            self._process.close()
        self._process = None
        self._moved = False

    def choose(self, position: Position) -> int:
        """Return the program's column; set :attr:`nodes` if the program reports nodes.

        Raises:
            EngineFault: the program crashed, or its answer is no legal column.
            LateAnswer: the answer took longer than ``timeout``.
        """
        require_move(position)
        self.nodes = 0
        self._deadline = time.monotonic() + self._seconds()
        column = REPLIES[self.reply](self, position)
        self._moved = True
        return column

    def words(self, position: Position) -> list[str]:
        """Request an answer; return its words except ``key=value`` and a repeated position."""
        moves = position.moves()
        answer = self._ask(moves, max(0.0, self._deadline - time.monotonic()))
        words = []
        for word in answer.split():
            key, equals, value = word.partition("=")
            if not equals:
                words.append(word)
            elif key == "nodes" and value.isdecimal():
                self.nodes += int(value)
        return words[1:] if len(words) > 1 and words[0] == moves else words

    def _seconds(self) -> float:
        """Return the seconds for a move or a reset, with those for a start."""
        return self.timeout if self._moved else self.timeout + STARTUP

    def _ask(self, line: str, seconds: float) -> str:
        """Send a line and return the answer, which reports no error."""
        if self._process is None:
            self._process = LineProcess(self.command, self.title)
        try:
            answer = self._process.ask(line, seconds)
        except BaseException:
            self.close()
            raise
        if answer.startswith("error"):
            self.close()
            raise EngineFault(f"{self.title} answered {answer[:300]!r}")
        return answer

    def wrong(self, answer: str, expected: str) -> EngineFault:
        """End the program, and return an error about an unexpected answer."""
        self.close()  # later answers may belong to earlier requests
        return EngineFault(f"{self.title} answered {answer[:80]!r}: expected {expected}")


def read_column(engine: Engine, position: Position) -> int:
    """Return the 0-based column, given an answer that is a column 1..7."""
    words = engine.words(position)
    if len(words) != 1 or words[0] not in tuple(DIGITS):
        expected = f"one column 1..{DIGITS[-1]} (reply=scores or reply=score reads scores)"
        raise engine.wrong(" ".join(words), expected)
    column = DIGITS.index(words[0])
    if not position.is_legal(column):
        raise engine.wrong(words[0], "a column that is not full")
    return column


def read_scores(engine: Engine, position: Position) -> int:
    """Return the best column, given an answer that ends with the scores of columns 1 to 7."""
    words = engine.words(position)
    if len(words) < COLUMNS:
        raise engine.wrong(" ".join(words), "a score of each of the seven columns")
    last = words[-COLUMNS:]
    return best(position, [engine_score(engine, last[c]) for c in position.legal_columns()])


def read_score(engine: Engine, position: Position) -> int:
    """Request a score after each column; return the column with the opponent's least score."""
    scores = []
    for column in position.legal_columns():
        after = position.play(column)
        if after.outcome is not None:
            scores.append(0.0 if after.outcome.winner is None else math.inf)
            continue
        words = engine.words(after)
        scores.append(-engine_score(engine, words[0] if words else ""))
    return best(position, scores)


REPLIES: Final[dict[str, Callable[[Engine, Position], int]]] = {
    "column": read_column,
    "scores": read_scores,
    "score": read_score,
}


def engine_score(engine: Engine, word: str) -> float:
    """Convert a word of an answer to a score.

    Raises:
        EngineFault: the word is not a number.
    """
    try:
        score = float(word)
    except ValueError:
        score = math.nan
    if math.isnan(score):
        raise engine.wrong(word, "a score, which is a number")
    return score


def best(position: Position, scores: list[float]) -> int:
    """Return the legal column with the greatest score; ties go to the centre, then to the left."""
    ranked = dict(zip(position.legal_columns(), scores, strict=True))
    return max((column for column in CENTRE_FIRST if column in ranked), key=ranked.__getitem__)
