"""The shortest script for each learning library, each a recipe to start from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

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
