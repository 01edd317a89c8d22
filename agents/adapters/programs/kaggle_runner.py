"""Runs a ConnectX submission as the competition does, asked and answering in JSON lines.

A script, ``python kaggle_runner.py SUBMISSION CONFIGURATION SEED``: it imports nothing of the
project, so that it runs in whatever Python the submission needs. A line in is an observation,
the line out ``{"action": ..., "seconds": ...}`` or ``{"error": ...}``. What the submission prints
goes to standard error.

As in Kaggle's environment the agent is the last callable that the file defines; it gets as many of
``(observation, configuration)`` as it has parameters, and loading the file counts as part
of its first move.
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
    """A dict whose keys are attributes too, as submissions use both."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


def load(path: str) -> Callable[..., Any]:
    """The last callable of a file, in a namespace of its own."""
    sys.path.append(os.path.dirname(os.path.abspath(path)))
    with open(path, encoding="utf-8") as file:
        code = compile(file.read(), path, "exec")
    names: dict[str, Any] = {}
    exec(code, names)
    found: list[Callable[..., Any]] = [value for value in names.values() if callable(value)]
    if not found:
        raise ValueError("the file defines nothing that can be called")
    return found[-1]


def call(agent: Callable[..., Any], *arguments: Any) -> Any:
    """What the agent answers, given as many arguments as it takes."""
    code = getattr(agent, "__code__", None)
    count = getattr(code, "co_argcount", len(arguments))
    return agent(*arguments[:count])


def seed_all(seed: int) -> None:
    """Seed the generators that submissions draw from."""
    random.seed(seed)
    with contextlib.suppress(ImportError):
        import numpy

        numpy.random.seed(seed % 2**32)  # noqa: NPY002  # what submissions draw from


def main(path: str, configuration: dict[str, Any], seed: int | None) -> None:
    """Answer observations until there are no more."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    sys.path.pop(0)  # our folder, whose modules are none of the submission's business
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
                raise TypeError(f"{action!r} is no column")
            answer = {"action": operator.index(action), "seconds": seconds}
        except BaseException as error:  # the submission's, whatever it is
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3]))
