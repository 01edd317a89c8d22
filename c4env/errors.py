"""What can go wrong with rules and environments; every error is a ``ValueError``.

Closing a window is no error: :class:`WindowClosed` is a ``SystemExit``.

Where PettingZoo's connect four raises another built-in error, ours is that one too, so
that an ``except`` written for PettingZoo's catches it.

One check that is made everywhere is here too: :func:`require_integer`.
"""

from __future__ import annotations

import contextlib
import operator
from typing import SupportsIndex


class C4Error(ValueError):
    """Base of every error this project raises about its input."""


class InvalidNotation(C4Error):
    """A text is not a list of moves or a drawn board."""


class InvalidPosition(C4Error):
    """A board that no game of Connect Four reaches."""


class IllegalMove(C4Error):
    """A column that is full, not on the board, or played after the end of the game."""


class InvalidAction(C4Error):
    """An action that is not an integer 0..6."""


class InvalidObservation(C4Error):
    """An array that does not show a Connect Four board."""


class UnknownRenderMode(C4Error):
    """A render mode the environment does not have."""


class UnknownAgent(C4Error):
    """A name that is not one of an environment's agents."""


class InvalidOption(C4Error):
    """An option of an environment or of ``reset`` that is unknown or has a wrong value."""


class ActionNotInSpace(InvalidAction, AssertionError):
    """An action that the agent's turn does not allow: not 0..6, or not None after the end."""


class IllegalStep(IllegalMove, AssertionError):
    """A full column played in ``raw_env``."""


class WrongOrder(C4Error, AssertionError):
    """A call that must wait for another: a turn without a step, a step after the last agent."""


class NotReset(WrongOrder, AttributeError):
    """Use of an environment before its first ``reset()``."""


class MissingExtra(C4Error, ImportError):
    """Something that needs a package which is not installed; the message says which."""


class WrongBoard(C4Error, ImportError):
    """Something that is made for a board of another size than the one it was asked for."""


class FileInUse(C4Error):
    """A file, or a folder of files, that another process is writing to."""


class OpponentFailed(C4Error):
    """An opponent that raised an error, or chose what it cannot play."""


class WindowClosed(SystemExit):
    """A person who was to move closed the window. It ends the program unless it is caught."""


def require_integer(
    name: str,
    value: object,
    low: int = 1,
    expected: str = "a positive integer",
    *,
    high: int | None = None,
    wrong: type[C4Error] = InvalidOption,
) -> int:
    """The value of an option, if it is an integer from ``low`` to ``high``, NumPy's among them.

    Raises:
        C4Error: it is not, or is a truth value: ``wrong``, which says what was ``expected``.
    """
    number = None
    if isinstance(value, SupportsIndex) and not isinstance(value, bool):
        with contextlib.suppress(TypeError):  # an array has an index, unless it has several
            number = operator.index(value)
    if number is None or number < low or (high is not None and number > high):
        raise wrong(f"{name}={value!r}: expected {expected}")
    return number
