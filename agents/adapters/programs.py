"""Programs as agents: ``exec:COMMAND``, in any language, and ``kaggle:FILE.py``.

An ``exec`` program reads and writes lines of text. A ``kaggle`` file is a submission to Kaggle's
ConnectX competition.
"""

from __future__ import annotations

import contextlib
import copy
import math
import os
import shlex
import shutil
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

import numpy as np

from c4env.agents.adapters.process import LineProcess
from c4env.agents.base import Agent, Games, as_number, require_move
from c4env.agents.making.load import file_hint, first_on_path, imports_of
from c4env.agents.making.options import Command, Seconds, validate_args
from c4env.agents.making.wrap import FunctionAgent
from c4env.arrays import Int64s
from c4env.errors import EngineFault, Failure, InvalidOption, LateAnswer
from c4env.geometry import CONNECT, IS_STANDARD, ROWS
from c4env.position import DIGITS, Position
from c4env.rules import CENTRE_FIRST, COLUMNS

STARTUP: Final = 20.0  # seconds for a program to load and compile, beyond the time of a move
UNPACKED: Final = "/kaggle_simulations/agent"  # where Kaggle has the files of a submission
PAUSE: Final = 0.2  # seconds in which a line without a request is noticed
EXIT: Final = 2.0  # seconds for a program to end after its input
ALMOST_FULL: Final = "23576131735216644664554473214136522757713" if IS_STANDARD else ""
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

    line = ""  # the last that the program got
    limit = math.inf  # seconds that a run allows for a move, a start included
    on_load: Callable[[], None] | None = None  # called before the program starts
    _process: LineProcess | None = None
    _moved = False  # whether the process has moved
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
        """Check that the program answers one of two lines, and end it.

        Raises:
            EngineFault: it fails at both; if at one, the run counts its failures as forfeits.
        """
        faults = []
        for line in (ALMOST_FULL, ""):
            try:
                with contextlib.suppress(LateAnswer):
                    self.reset(0)
                    self._ask(line, self._seconds())
                break
            except EngineFault as error:
                faults.append(error)
        self.close()
        if len(faults) > 1:
            raise faults[0]

    @property
    def _is_shared(self) -> bool:
        """Whether this process was forked while the program ran; a fork starts its own program."""
        return self._process is not None and self._process.is_shared

    def finish(self) -> None:
        """Close the program's input; check that the program ends, and adds no line before that.

        Raises:
            EngineFault: it does not.
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
            EngineFault: the program ended or crashed, or its answer is no legal column.
            LateAnswer: the answer took longer than ``timeout``.
        """
        require_move(position)
        if self._is_shared:
            self.close()
        self.nodes = 0
        self._deadline = time.monotonic() + min(self.limit, self._seconds())
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

        Of seven scores the last seven words count, so a repeated position may stay.
        """
        moves = position.moves()
        answer = self._ask(moves, max(0.0, self._deadline - time.monotonic()))
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
        """Return the seconds for a move or a reset, a start included."""
        return self.timeout if self._moved else self.timeout + STARTUP

    def _ask(self, line: str, seconds: float) -> str:
        """Send a line and return the answer; an error, or an interrupt, ends the program."""
        if self._process is None:
            if self.on_load is not None:
                self.on_load()
            self._process = LineProcess(self.command, self.title)
        self.line = line
        try:
            answer = self._process.ask(line, seconds)
            if answer.startswith("error"):
                raise EngineFault(f"{self.title} answered {answer[:300]!r}")
        except LateAnswer as error:
            hint = "" if self._moved else "; does it flush its output?"
            self.close()
            raise LateAnswer(f"{error}{hint}") from None
        except BaseException:
            self.close()
            raise
        return answer


class Struct(dict[str, Any]):
    """A dict whose keys are also attributes, since submissions use both."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


class Submission(FunctionAgent):
    """Plays a submission to Kaggle's ConnectX.

    The file is loaded anew for each game, in its first move, and once more when a run begins. A
    move may take longer than
    ``timeout`` until all moves of the game together have taken ``overage`` seconds more. A run
    plays the submission in a process of its own, seeds the modules ``random`` and ``numpy.random``
    there before each game, and ends the process if a move takes longer still.

    Args:
        file: the submission, a Python file. The agent is the last callable in the file.
        timeout: seconds for a move. Kaggle calls this option ``actTimeout``.
        overage: seconds that the moves of a game may take beyond ``timeout``, all together.
            Submissions read them as ``agentTimeout``, and what is left of them as
            ``remainingOverageTime``.

    Attributes:
        left: the seconds that are left of the overage in this game.
        on_load: a function that is called before the file is loaded, or None.

    Raises:
        InvalidOption: the file does not exist.
    """

    on_load: Callable[[], None] | None = None

    @validate_args
    def __init__(self, file: str, timeout: Seconds = 2.0, overage: Seconds = 60.0) -> None:
        if not file.endswith(".py") or not os.path.isfile(file):
            missing = "" if os.path.exists(file) else " does not exist"
            raise InvalidOption(
                f"kaggle: file={file!r}{missing}: expected a submission FILE.py; unpack an archive "
                "first, and name its main.py"
            )
        super().__init__(self._play)
        self.name = ""
        self.file = os.path.abspath(file)
        self.timeout = timeout
        self.overage = self.left = overage
        self._configuration = {
            "columns": COLUMNS,
            "rows": ROWS,
            "inarow": CONNECT,
            "actTimeout": timeout,
            "timeout": timeout,
            "agentTimeout": overage,
            "episodeSteps": 1000,
            "runTimeout": 1200,
            "__raw_path__": self.file,
        }
        self._submitted: Any = None

    def __getstate__(self) -> dict[str, Any]:
        """Return the state of a copy, which loads the submission anew."""
        return vars(self) | {"_submitted": None}

    def ready(self) -> None:
        """Load the submission, and so what it imports; if that fails, it fails in each game."""
        with contextlib.suppress(Exception, SystemExit):
            load_submission(self.file)

    def reset(self, seed: Any = None) -> None:
        """Begin a new game; the next move loads the submission anew."""
        self._submitted = None
        self.left = self.overage

    def reseed(self, seed: int) -> None:
        """Begin a new game."""
        self.reset()

    _ask_each = Agent._ask_each  # which begins a new game before each column

    def games(self, boards: int) -> Games:
        """Return games that remember their moves, each of a copy."""
        return _Copies(self, boards)

    def _play(self, observation: Mapping[str, Any]) -> int:
        """Return the submission's column, a Python int as Kaggle's schema demands."""
        seen = kaggle_observation(observation["observation"], self.left)
        arguments = seen, Struct(self._configuration)
        started = time.perf_counter()
        try:
            if self._submitted is None:
                if self.on_load is not None:
                    self.on_load()
                self._submitted = load_submission(self.file)
            action = self._submitted(*arguments[: self._submitted.__code__.co_argcount])
        except FileNotFoundError as error:
            if str(error.filename).startswith(UNPACKED):
                error.strerror = (
                    f"{error.strerror}; Kaggle unpacks a submission there: make {UNPACKED} a link "
                    "to your folder, or read the file beside configuration['__raw_path__']"
                )
            raise
        self.left -= max(0.0, time.perf_counter() - started - self.timeout)
        if self.left < 0:
            raise LateAnswer(
                f"the submission took longer than {late_words(self.timeout, self.overage)}"
            )
        if action is None:
            return 0  # the schema's default
        if not isinstance(action, int) or isinstance(action, bool):
            raise TypeError(f"{action!r} of {type(action)} is not an int")
        if not 0 <= action < COLUMNS:
            raise ValueError(f"action {action}: expected 0..{COLUMNS - 1}")
        return action


class _Copies(Games):
    """The games on the boards of one environment, each with a submission of its own."""

    def __init__(self, submission: Submission, boards: int) -> None:
        super().__init__(submission)
        self.copies = [copy.deepcopy(submission) for _ in range(boards)]

    def begin(self, boards: Int64s, seeds: Int64s) -> None:
        """Begin new games on boards ``[M]``."""
        for board in boards.tolist():
            self.copies[board].reset()

    def choose(self, boards: Int64s, discs: Int64s, seeds: Int64s) -> Int64s:
        """Choose columns on boards ``[M]``."""
        asked = zip(boards.tolist(), discs.tolist(), strict=True)
        columns = [self.copies[i].choose(Position.from_bitboards(*pair)) for i, pair in asked]
        return np.array(columns, np.int64)


def late_words(timeout: float, overage: float) -> str:
    """Return the limits of a submission in words."""
    return f"{timeout:g} s for a move and {overage:g} s of overage for all moves of a game"


def load_submission(path: str) -> Any:
    """Run a file in its own namespace and return its last callable, as Kaggle's loader does."""
    with open(path, encoding="utf-8") as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    names: dict[str, Any] = {}
    with first_on_path(os.path.dirname(os.path.realpath(path)), imports_of(path)):
        exec(code, names)
    functions = [value for value in names.values() if callable(value)]
    if not functions:
        raise ValueError("the file defines no callable")
    return functions[-1]


def kaggle_observation(planes: np.ndarray[Any, Any], overage: float) -> Struct:
    """Return Kaggle's observation of planes int8 ``[6, 7, 2]``; the cells start at the top left.

    ``overage`` is the seconds that are left of the game's overage.
    """
    step = int(planes.sum())
    mark = step % 2 + 1
    cells = planes[:, :, 0] * mark + planes[:, :, 1] * (3 - mark)
    board = cells.ravel().tolist()
    return Struct(board=board, mark=mark, step=step, remainingOverageTime=overage)
