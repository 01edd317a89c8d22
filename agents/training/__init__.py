"""The shortest script for each learning library, each a recipe to start from."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from c4env.errors import MissingExtra


@contextmanager
def needs(extra: str, module: str) -> Iterator[None]:
    """Say which extra the imports within need; in one line where the module is what is run.

    Raises:
        MissingExtra: an import fails.
        SystemExit: the same, for a module that is ``__main__``.
    """
    try:
        yield
    except ImportError as error:
        words = f"this needs another package ({error}): pip install 'c4env[{extra}]'"
        raise SystemExit(words) if module == "__main__" else MissingExtra(words) from None


def run(
    train: Callable[..., Any], doc: str | None, said: str = "", argv: Sequence[str] | None = None
) -> None:
    """Call ``train(out, steps, seed)`` as the command line says: ``OUT [--steps N] [--seed S]``.

    Args:
        train: a script's function; its own default is that of ``--steps``.
        doc: what ``--help`` says first.
        said: what is printed before the mean return that ``train`` answers; empty for nothing.
        argv: the arguments; None for those of the process.
    """
    parser = argparse.ArgumentParser(description=doc)
    parser.add_argument("out", help="where to write what was learned")
    steps = inspect.signature(train).parameters["steps"].default
    parser.add_argument("--steps", type=int, default=steps)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(argv)
    mean = train(given.out, given.steps, given.seed)
    if said:
        print(f"{said}: {mean:+.2f}")
