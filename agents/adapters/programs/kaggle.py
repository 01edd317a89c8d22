"""``kaggle:FILE.py``: an agent from a submission to Kaggle's ConnectX competition."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np

from c4env.agents.errors import EngineFault, InvalidValue, LateAnswer

from ....bitboard import COLUMNS, CONNECT, ROWS
from ....position import Position, numbered_cells
from ...base import as_number, require_move
from ...registry.options import Seconds, checked
from .process import LineProcess, ProcessAgent

SLACK: Final = 1.0  # seconds to wait beyond the time limits
RUNNER: Final = str(Path(__file__).with_name("kaggle_runner.py"))


class Submission(ProcessAgent):
    """Plays a ConnectX submission under the competition's time limits.

    Each move has ``timeout`` seconds. A longer move uses seconds of the game's ``overage``. Once
    the ``overage`` is used up, a longer move is late. Each game runs in a new process, as on
    Kaggle. The process seeds the modules ``random`` and ``numpy.random``.

    Args:
        file: the submission, a Python file. The agent is the last callable in the file.
        timeout: seconds for a move. Kaggle calls this option ``actTimeout``.
        overage: extra seconds in a game for moves longer than ``timeout``.
        startup: extra seconds for Python to start, before the first move.
        python: the Python interpreter; default: the interpreter of this process.

    Raises:
        InvalidValue: the file or the interpreter does not exist.
    """

    @checked
    def __init__(
        self,
        file: str,
        timeout: Seconds = 2.0,
        overage: Seconds = 60.0,
        startup: Seconds = 20.0,
        python: str | None = None,
    ) -> None:
        if not Path(file).is_file():
            raise InvalidValue(f"kaggle: file={file!r}: expected a Python file")
        if python and shutil.which(python) is None:
            raise InvalidValue(f"kaggle: python={python!r}: expected a Python interpreter")
        self.file = file
        self.timeout = timeout
        self.overage = overage
        self.startup = startup
        self.python = python
        self.reset()

    def reset(self, seed: int | np.random.SeedSequence | None = None) -> None:
        """Begin a new game with a new process and the whole overage time."""
        self.close()
        self._seed = as_number(seed)
        self._remaining = self.overage

    def _start(self) -> LineProcess:
        configuration = {
            "columns": COLUMNS,
            "rows": ROWS,
            "inarow": CONNECT,
            "actTimeout": self.timeout,
            "timeout": self.timeout,
            "agentTimeout": self.overage,
            "episodeSteps": 1000,
            "runTimeout": 1200,
        }
        arguments = [self.file, json.dumps(configuration), json.dumps(self._seed)]
        return LineProcess([self.python or sys.executable, RUNNER, *arguments], self.file)

    def choose(self, position: Position) -> int:
        """Return the submission's column.

        Raises:
            EngineFault: the submission raised an error, ended, or returned no legal column.
            LateAnswer: the move took longer than ``timeout`` plus the remaining ``overage``.
        """
        require_move(position)
        observation = observe(position, self._remaining)
        # Wait a little longer, so that the runner's clock decides whether a move is late.
        wait = self.timeout + self._remaining + SLACK
        line = self._ask(json.dumps(observation), wait, self.startup)
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            self.close()
            raise EngineFault(f"{self.file} raised {answer['error']}")
        self._remaining -= max(0.0, answer["seconds"] - self.timeout)
        if self._remaining < 0:
            self.close()
            raise LateAnswer(
                f"{self.file} took {answer['seconds']:.3g} s for a move: "
                f"expected at most {self.timeout:g} s, since the overage time is used up"
            )
        column = int(answer["action"])
        if not position.is_legal(column):
            self.close()
            raise EngineFault(
                f"{self.file} answered {column}: expected one of {position.legal_columns()}"
            )
        return column


def observe(position: Position, remaining: float) -> dict[str, Any]:
    """Return the observation that a submission gets.

    Returns:
        a dict of ConnectX: ``board`` lists the cells row by row from the top left, 0 for empty, 1
        and 2 for discs of the first and second player; ``mark`` is the submission's player.
    """
    return {
        "board": numbered_cells(position),
        "mark": position.to_move + 1,
        "step": position.plies,
        "remainingOverageTime": remaining,
    }
