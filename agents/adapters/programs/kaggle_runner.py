"""Run a ConnectX submission by the competition's rules; exchange JSON lines.

The script ``python kaggle_runner.py SUBMISSION CONFIGURATION SEED`` imports nothing of this
project, so that it runs in any Python that the submission needs. Each input line is an
observation. For each line, the script writes ``{"action": ..., "seconds": ...}`` or
``{"error": ...}``. The submission's prints go to standard error.

As in Kaggle's environment, the agent is the last callable in the file. The call passes
``observation``, and ``configuration`` too if the agent has two parameters. The time of the first
move includes loading the file.
"""

from __future__ import annotations

import contextlib
import json
import operator
import os
import random
import sys
import time
from collections.abc import Callable
from typing import Any


class Struct(dict[str, Any]):
    """A dict whose keys are also attributes, since submissions use both."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


def load(path: str) -> Callable[..., Any]:
    """Run a file in its own namespace and return its last callable."""
    sys.path.append(os.path.dirname(os.path.abspath(path)))
    with open(path, encoding="utf-8") as file:
        code = compile(file.read(), path, "exec")
    names: dict[str, Any] = {}
    exec(code, names)
    found: list[Callable[..., Any]] = [value for value in names.values() if callable(value)]
    if not found:
        raise ValueError("the file defines no callable")
    return found[-1]


def call(agent: Callable[..., Any], *arguments: Any) -> Any:
    """Call the agent; drop arguments beyond the number of the agent's parameters."""
    code = getattr(agent, "__code__", None)
    count = getattr(code, "co_argcount", len(arguments))
    return agent(*arguments[:count])


def seed_all(seed: int) -> None:
    """Seed the random generators that submissions use."""
    random.seed(seed)
    with contextlib.suppress(ImportError):
        import numpy

        numpy.random.seed(seed % 2**32)  # noqa: NPY002  # the generator that submissions use


def main(path: str, configuration: dict[str, Any], seed: int | None) -> None:
    """Write an action or an error for each observation on standard input."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    sys.path.pop(0)  # hide the modules of this folder from the submission
    if seed is not None:
        seed_all(seed)
    agent = None
    for line in sys.stdin:
        observation = json.loads(line, object_hook=Struct)
        started = time.perf_counter()
        answer: dict[str, Any]
        try:
            if agent is None:
                agent = load(path)
            action = call(agent, observation, Struct(configuration))
            seconds = time.perf_counter() - started
            if isinstance(action, bool):
                raise TypeError(f"{action!r} is not a column")
            answer = {"action": operator.index(action), "seconds": seconds}
        except BaseException as error:  # any error of the submission
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3]))
