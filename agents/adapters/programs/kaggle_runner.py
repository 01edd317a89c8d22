"""Run a ConnectX submission as a program that answers lines (``docs/guides/other-programs.md``).

The script ``python kaggle_runner.py SUBMISSION CONFIGURATION`` imports nothing of this project, so
that it runs in any Python that the submission needs. The line ``reset SEED`` seeds the random
generators and loads the submission. Each other line has the 1-based columns of a game, and the
answer is a column, or ``error`` and the reason. The submission's prints go to standard error.

As in Kaggle's loader, the agent is the last callable in the file; one that is no function fails.
The call passes ``observation``, and ``configuration`` too if the agent has two parameters. As by
Kaggle's schema, an action is a Python int.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import sys
from typing import Any

DIGITS = "123456789abcdef"


class Struct(dict[str, Any]):
    """A dict whose keys are also attributes, since submissions use both."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


def load(path: str) -> Any:
    """Run a file in its own namespace and return its last callable."""
    sys.path.append(os.path.dirname(path))
    with open(path, encoding="utf-8") as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    names: dict[str, Any] = {}
    exec(code, names)
    sys.path.pop()
    found = [value for value in names.values() if callable(value)]
    if not found:
        raise ValueError("the file defines no callable")
    return found[-1]


def observe(moves: str, columns: int, rows: int) -> Struct:
    """Return the observation of the player to move; the board's cells start at the top left."""
    board = [0] * (columns * rows)
    for ply, digit in enumerate(moves):
        cells = range(DIGITS.index(digit), len(board), columns)
        board[max(cell for cell in cells if not board[cell])] = ply % 2 + 1
    mark = len(moves) % 2 + 1
    return Struct(board=board, mark=mark, step=len(moves), remainingOverageTime=0)


def choose(agent: Any, moves: str, configuration: Struct) -> str:
    """Return the notation of the agent's column."""
    columns = configuration.columns
    arguments = [observe(moves, columns, configuration.rows), configuration]
    action = agent(*arguments[: agent.__code__.co_argcount])
    if action is None:
        action = 0  # the schema's default
    if not isinstance(action, int) or isinstance(action, bool):
        raise TypeError(f"{action!r} of {type(action)} is not an int")
    if not 0 <= action < columns:
        raise ValueError(f"action {action}: expected 0..{columns - 1}")
    return DIGITS[action]


def seed_all(seed: int) -> None:
    """Seed the random generators that submissions use."""
    random.seed(seed)
    with contextlib.suppress(ImportError):
        import numpy

        numpy.random.seed(seed % 2**32)  # noqa: NPY002  # the generator that submissions use


def main(path: str, configuration: Struct) -> None:
    """Answer each line of standard input."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    sys.path.pop(0)  # hide the modules of this folder from the submission
    configuration["__raw_path__"] = path
    agent = None
    for line in sys.stdin:
        word, _, seed = line.strip().partition(" ")
        try:
            if seed:
                seed_all(int(seed))
            if agent is None:
                agent = load(path)
            answer = "ok" if word == "reset" else choose(agent, word, Struct(configuration))
        except BaseException as error:  # any error of the submission
            answer = f"error {type(error).__name__}: {' '.join(str(error).split())[:500]}"
        print(answer, file=answers, flush=True)


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), Struct(json.loads(sys.argv[2])))
