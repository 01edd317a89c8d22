"""``kaggle:FILE.py``: a submission to Kaggle's ConnectX competition as an agent."""

from __future__ import annotations

import contextlib
import copy
import os
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from c4env.agents.base import Agent, Games
from c4env.agents.making.as_agent import FunctionAgent
from c4env.agents.making.import_path import first_on_path, imports_of
from c4env.agents.making.options import Seconds, validate_args
from c4env.arrays import Int64s
from c4env.errors import InvalidOption, LateAnswer
from c4env.geometry import CONNECT, ROWS
from c4env.position import Position
from c4env.rules import COLUMNS

UNPACKED: Final = "/kaggle_simulations/agent"  # where Kaggle unpacks the files of a submission


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

    The first move of each game loads the file again. The start of a run loads it once more. A move
    may take longer than ``timeout``, until all moves of the game together have taken ``overage``
    seconds more. A run plays the submission in its own process, and seeds the modules ``random``
    and ``numpy.random`` there before each game. If a move takes even longer, the run ends the
    process.

    Args:
        file: the submission, a Python file. The agent is the last callable in the file.
        timeout: seconds for a move. Kaggle calls this option ``actTimeout``.
        overage: seconds that all moves of a game together may take beyond ``timeout``. Submissions
            read these seconds as ``agentTimeout``, and the rest of them as
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
        """Return the state of a copy, which loads the submission again."""
        return vars(self) | {"_submitted": None}

    def ready(self) -> None:
        """Load the submission and its imports; if loading fails, each game fails as well."""
        with contextlib.suppress(Exception, SystemExit):
            load_submission(self.file)

    def reset(self, seed: Any = None) -> None:
        """Begin a new game; the next move loads the submission again."""
        self._submitted = None
        self.left = self.overage

    def reseed(self, seed: int) -> None:
        """Begin a new game."""
        self.reset()

    _ask_each = Agent._ask_each  # it begins a new game before each column

    def games(self, boards: int) -> Games:
        """Return games that remember their moves, each played by its own copy."""
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
    """The games on the boards of one environment, each with its own copy of the submission."""

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

    ``overage`` is the number of seconds that are left of the game's overage.
    """
    step = int(planes.sum())
    mark = step % 2 + 1
    cells = planes[:, :, 0] * mark + planes[:, :, 1] * (3 - mark)
    board = cells.ravel().tolist()
    return Struct(board=board, mark=mark, step=step, remainingOverageTime=overage)
