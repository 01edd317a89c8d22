"""What can go wrong with runs and their records; every error is a ``ValueError``."""

import importlib
import operator
from typing import Any

from c4env.errors import C4Error, MissingExtra


class InvalidRun(C4Error):
    """A run that cannot be played as asked: too few agents, an agent twice, a bad number."""


class WorkerDied(C4Error):
    """Worker processes end again and again, and no agent's move is the reason."""


class UnreadableRun(C4Error):
    """A run directory or record that is not one, is damaged, or belongs to another run."""


class UnwritableRun(C4Error):
    """A run directory that takes no more games, as when the disk is full."""


class InvalidRequest(C4Error):
    """Something asked of the web server that it does not answer."""


class PortTaken(C4Error):
    """The address to serve at is in use, or is not this machine's."""


def needed(module: str, how: str) -> Any:
    """A module that comes with an extra.

    Raises:
        MissingExtra: it is not installed; ``how`` says what would install it.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtra(f"{error}: {how}") from None


def whole(name: str, value: object, expected: str, low: int = 1, high: int = 2**63 - 1) -> int:
    """A whole number within bounds, NumPy's among them.

    Raises:
        InvalidRun: it is none; ``expected`` says what it should be.
    """
    try:
        number = low - 1 if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = low - 1
    if not low <= number <= high:
        raise InvalidRun(f"{name}={value!r}: expected {expected}")
    return number
