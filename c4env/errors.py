"""Errors of rules and environments; every one is a ``ValueError``.

Where PettingZoo's connect four raises another built-in error, our error derives from it too: an
``except`` written for PettingZoo catches both. :class:`WindowClosed` is a ``SystemExit``, not an
error.

:func:`require_integer`, the check that most modules need, is here too.
"""

from __future__ import annotations

import contextlib
import operator
from typing import SupportsIndex


class C4Error(ValueError):
    """Base of every error that this project raises about its input."""


class InvalidNotation(C4Error):
    """A text that is neither a list of moves nor a drawn board."""


class InvalidPosition(C4Error):
    """A board that no game reaches, or a value that is no position of this board."""


class IllegalMove(C4Error):
    """A column that is full, not on the board, or played after the end of the game."""


class InvalidAction(C4Error):
    """An action that is not an integer 0..6."""


class InvalidObservation(C4Error):
    """An array that does not show a Connect Four board."""


class UnknownRenderMode(C4Error):
    """A render mode the environment does not have."""


class UnknownAgent(C4Error):
    """No agent has the name, nothing is at the import path, or the code there raises."""


class InvalidOption(C4Error):
    """An unknown option of an environment or of ``reset``, or a wrong value."""


class ActionNotInSpace(InvalidAction, AssertionError):
    """An action that is not 0..6, or not None after the end of the game."""


class IllegalStep(IllegalMove, AssertionError):
    """A full column played in ``raw_env``."""


class WrongOrder(C4Error, AssertionError):
    """A call out of order: a turn without a step, or a step after the end of the game."""


class NotReset(WrongOrder, AttributeError):
    """A call before the first ``reset()`` of an environment."""


class MissingExtra(C4Error, ImportError):
    """A package is missing; the message names the extra that installs it."""


class WrongBoard(C4Error, ImportError):
    """A module, agent or function that serves a board of another size."""


class FileInUse(C4Error):
    """A file, or a folder of files, to which another process writes."""


class OpponentFailed(C4Error):
    """An opponent raised an error, or its answer is no legal column."""


class WindowClosed(SystemExit):
    """The player closed the window. The exception ends the program unless caught."""


def require_integer(
    name: str,
    value: object,
    low: int = 1,
    expected: str = "a positive integer",
    *,
    high: int | None = None,
    wrong: type[C4Error] = InvalidOption,
) -> int:
    """The value of an option as an int; NumPy's integers pass, booleans do not.

    Args:
        name: the option's name, for the error.
        value: the value to check.
        low, high: the least value, and the greatest unless None.
        expected: the end of the error's message.
        wrong: the type of the error.

    Raises:
        wrong: the value is not an integer, or out of range.
    """
    number = None
    if isinstance(value, SupportsIndex) and not isinstance(value, bool):
        with contextlib.suppress(TypeError):  # raised by an array with several elements
            number = operator.index(value)
    if number is None or number < low or (high is not None and number > high):
        raise wrong(f"{name}={value!r}: expected {expected}")
    return number
