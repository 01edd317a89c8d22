"""``kaggle:FILE.py``: an agent from a submission to Kaggle's ConnectX competition."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from c4env.errors import InvalidOption

from ....geometry import COLUMNS, CONNECT, ROWS
from ...base import FunctionAgent
from ...registry.options import Seconds, validate_args


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

    The file is loaded anew for each game. A run plays the submission in a process of its own,
    seeds the modules ``random`` and ``numpy.random`` there before each game, and ends the process
    when a move takes longer than ``timeout``. There is no overage time.

    Args:
        file: the submission, a Python file. The agent is the last callable in the file.
        timeout: seconds for a move. Kaggle calls this option ``actTimeout``.

    Raises:
        InvalidOption: the file does not exist.
    """

    @validate_args
    def __init__(self, file: str, timeout: Seconds = 2.0) -> None:
        if not file.endswith(".py") or not os.path.isfile(file):
            raise InvalidOption(
                f"kaggle: file={file!r}: expected an existing FILE.py; unpack an archive first, "
                "and name its main.py"
            )
        super().__init__(self._play)
        self.name = ""
        self.file = os.path.abspath(file)
        self.timeout = timeout
        self._configuration = {
            "columns": COLUMNS,
            "rows": ROWS,
            "inarow": CONNECT,
            "actTimeout": timeout,
            "timeout": timeout,
            "agentTimeout": 60,
            "episodeSteps": 1000,
            "runTimeout": 1200,
            "__raw_path__": self.file,
        }
        self._submitted: Any = None

    def __getstate__(self) -> dict[str, Any]:
        """Return the state of a copy, which loads the submission anew."""
        return vars(self) | {"_submitted": None}

    def reset(self, seed: Any = None) -> None:
        """Begin a new game; the next move loads the submission anew."""
        self._submitted = None

    def _play(self, observation: Mapping[str, Any]) -> int:
        """Return the submission's column; as by Kaggle's schema, an action is a Python int."""
        if self._submitted is None:
            self._submitted = load(self.file)
        arguments = [shown(observation["observation"]), Struct(self._configuration)]
        action = self._submitted(*arguments[: self._submitted.__code__.co_argcount])
        if action is None:
            return 0  # the schema's default
        if not isinstance(action, int) or isinstance(action, bool):
            raise TypeError(f"{action!r} of {type(action)} is not an int")
        if not 0 <= action < COLUMNS:
            raise ValueError(f"action {action}: expected 0..{COLUMNS - 1}")
        return action


def load(path: str) -> Any:
    """Run a file in a namespace of its own and return its last callable, as Kaggle's loader."""
    folder = os.path.dirname(path)
    if folder not in sys.path:
        sys.path.append(folder)
    with open(path, encoding="utf-8") as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    names: dict[str, Any] = {}
    exec(code, names)
    functions = [value for value in names.values() if callable(value)]
    if not functions:
        raise ValueError("the file defines no callable")
    return functions[-1]


def shown(planes: np.ndarray[Any, Any]) -> Struct:
    """Return Kaggle's observation of planes int8 ``[6, 7, 2]``; the cells start at the top left."""
    step = int(planes.sum())
    mark = step % 2 + 1
    cells = planes[:, :, 0] * mark + planes[:, :, 1] * (3 - mark)
    return Struct(board=cells.ravel().tolist(), mark=mark, step=step, remainingOverageTime=0)
