"""Errors of the rules and the environments; each is a ``ValueError``.

Where PettingZoo's connect four raises a built-in error such as ``AssertionError``, our error also
derives from that built-in: an ``except`` written for PettingZoo catches our error.

The module also has :func:`require_integer`, a check that most modules need.
"""

from __future__ import annotations

import contextlib
import operator
from typing import SupportsIndex


class C4Error(ValueError):
    """Base class of the errors that this project raises for bad input."""


class InvalidNotation(C4Error):
    """The text is neither a move string nor a drawn board."""


class InvalidPosition(C4Error):
    """No game reaches the board, or the value is not a ``Position`` of this board size."""


class IllegalMove(C4Error):
    """The column is full or not on the board, or the game is over."""


class InvalidAction(C4Error):
    """The action is not an integer 0..6."""


class InvalidObservation(C4Error):
    """The array does not encode a Connect Four board."""


class UnknownRenderMode(C4Error):
    """The environment does not support the render mode."""


class UnknownAgent(C4Error):
    """No agent has the name, or importing the agent failed."""


class InvalidOption(C4Error):
    """An option is unknown, or its value is invalid."""


class ActionNotInSpace(InvalidAction, AssertionError):
    """The action is not an integer 0..6; or, after the end of the game, is not None."""


class IllegalStep(IllegalMove, AssertionError):
    """The column played in ``raw_env`` is full."""


class WrongOrder(C4Error, AssertionError):
    """Methods were called in the wrong order, such as ``step`` after the end of the game."""


class NotReset(WrongOrder, AttributeError):
    """A method was called before the environment's first ``reset()``."""


class MissingExtra(C4Error, ImportError):
    """An optional package is missing; the message names the extra that installs it."""


class WrongBoard(C4Error, ImportError):
    """A module, agent or function is made for another board size."""


class FileInUse(C4Error):
    """Another process writes to the file or folder."""


class OpponentFailed(C4Error):
    """The opponent raised an error or returned an illegal column."""


def require_integer(
    name: str,
    value: object,
    low: int = 1,
    expected: str = "a positive integer",
    *,
    high: int | None = None,
    wrong: type[C4Error] = InvalidOption,
) -> int:
    """Return the value of an option as an int; accept NumPy integers, but no booleans.

    Args:
        name: the option's name, for the error.
        value: the value to check.
        low, high: the least and the greatest value; None as ``high`` sets no limit.
        expected: the description of valid values that ends the error's message.
        wrong: the class of the error.

    Raises:
        wrong: the value is not an integer or is out of range.
    """
    number = None
    if isinstance(value, SupportsIndex) and not isinstance(value, bool):
        with contextlib.suppress(TypeError):  # raised by an array with several elements
            number = operator.index(value)
    if number is None or number < low or (high is not None and number > high):
        raise wrong(f"{name}={value!r}: expected {expected}")
    return number
