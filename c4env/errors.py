"""The errors that this project raises for bad input, grouped by what a caller does about them.

An error of this project is a ``ValueError``. Where PettingZoo's connect four raises a built-in
error such as ``AssertionError``, our error also derives from that built-in. So an ``except``
written for PettingZoo catches our error.

The module also has :func:`require_integer`, a check that most modules need, and
:func:`describe_error`, which puts an error of a user's code in one line.

Example:
    >>> try:
    ...     Position.parse("48")
    ... except errors.C4Error as error:
    ...     print(error)
    '48': move 2, '8', is not a column (1 to 7)
"""

from __future__ import annotations

import contextlib
import operator
import os
import traceback
from collections.abc import Iterable
from typing import Final, Literal, SupportsIndex

import numpy as np

from c4env.system import FOLDER, is_users

REASON: Final = 300  # the most characters of an agent's error to keep
Failure = Literal["exception", "no answer", "unreadable", "illegal column", "time", "crash"]
"""How a program, a server or a network failed to answer; the ending of a game that it forfeits."""


class C4Error(ValueError):
    """Base class of the errors of this project."""


class InvalidPosition(C4Error):
    """A text, an array or a drawn board is not a position of a game on this board."""


class IllegalMove(C4Error, AssertionError):
    """The column is full or not on the board, or the game is over.

    Example:
        >>> Position.parse("444444").play(3)
        Traceback (most recent call last):
        c4env.errors.IllegalMove: column 3 is full; legal columns: (0, 1, 2, 4, 5, 6)
    """


class InvalidAction(C4Error, AssertionError):
    """The action is not an integer 0..6; or, after the end of the game, is not None."""


class WrongOrder(C4Error, AssertionError, AttributeError):
    """Methods were called in the wrong order, such as ``step`` before the first ``reset``."""


class InvalidOption(C4Error):
    """An option, a spec or a setting is unknown, or its value cannot be used.

    Example:
        >>> make("alphabeta:depth=0")
        Traceback (most recent call last):
        c4env.errors.InvalidOption: alphabeta: depth='0': expected int between 1 and 42
    """


class UnknownKeyword(InvalidOption, TypeError):
    """A function has no parameter of this name.

    The message begins with Python's words, which libraries look for.

    Example:
        >>> gymnasium.make("c4env/ConnectFour-v0", oponent="greedy")
        Traceback (most recent call last):
        c4env.errors.UnknownKeyword: ConnectFourEnv() got an unexpected keyword argument 'oponent';
        did you mean 'opponent'? ...
    """


class UnknownAgent(C4Error):
    """No agent has the name, or importing or making the agent failed.

    Example:
        >>> make("alphabet")
        Traceback (most recent call last):
        c4env.errors.UnknownAgent: unknown agent 'alphabet'; did you mean 'alphabeta'?
    """


class WrongBoard(C4Error, ImportError):
    """A module, agent or function is made for another board size."""


class MissingExtra(C4Error, ImportError):
    """An optional package is missing; the message says what to install."""


class OpponentFailed(C4Error):
    """The opponent raised an error or returned an illegal column."""


class EngineFault(C4Error):
    """An external program crashed, gave no answer, or answered no legal column.

    The message may quote the program's output, with control characters escaped.

    Attributes:
        ending: which of these happened, and the ending of a game that is forfeited because of it.

    Example:
        >>> make("exec:false").choose(Position())
        Traceback (most recent call last):
        c4env.errors.EngineFault: false ended with exit code 1
    """

    ending: Failure

    def __init__(self, message: str, ending: Failure = "exception") -> None:
        super().__init__(
            "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in message)
        )
        self.ending = ending


class LateAnswer(EngineFault):
    """An external program did not answer in time.

    Example:
        >>> slow = make("exec:sh -c 'read moves; echo 4; sleep 9',timeout=0.1")
        >>> first = slow.choose(Position())
        >>> slow.choose(Position())
        Traceback (most recent call last):
        c4env.errors.LateAnswer: sh -c 'read moves; echo 4; sleep 9' gave no answer within 0.1 s
    """

    def __init__(self, message: str) -> None:
        super().__init__(message, "time")


class SearchLimit(C4Error):
    """The search reached its node limit before it ended.

    Example:
        >>> make("negamax:max_nodes=1000").choose(Position())
        Traceback (most recent call last):
        c4env.errors.SearchLimit: Position.parse('') has 42 empty cells: ...
    """


class Unavailable(C4Error):
    """A service that an agent needs, such as a server, failed; the agent is not at fault.

    The run ends with this error and keeps the finished games. The run can resume later.

    Example:
        >>> try:
        ...     result = round_robin(["greedy", "random"], openings=0, out="run")
        ... except Unavailable:  # the same call goes on later
        ...     result = read_run("run")
    """


class AgentChanged(Unavailable):
    """The code of an agent was loaded again, and is not what it was when the run began.

    The run keeps its games. With the old files the same call resumes it.
    """


class UnreadableRun(C4Error):
    """A file or folder is damaged, is not a run or record, or belongs to another run."""


class Unwritable(C4Error):
    """A file, folder or port cannot be used: it is in use, read-only, or the disk is full."""


def require_integer(
    name: str,
    value: object,
    low: int = 1,
    expected: str = "a positive integer",
    *,
    high: int | None = None,
) -> int:
    """Return the value of an option as an int; accept NumPy integers, but not booleans.

    ``expected`` describes the valid values in the error's message.

    Raises:
        InvalidOption: the value is not an integer, or is out of range.
    """
    number = None
    if isinstance(value, SupportsIndex) and not is_boolean(value):
        with contextlib.suppress(TypeError):  # raised by an array with several elements
            number = operator.index(value)
    if number is None or number < low or (high is not None and number > high):
        raise InvalidOption(f"{name}={value!r}: expected {expected}")
    return number


def is_boolean(value: object) -> bool:
    """Return whether a value is a boolean of Python or NumPy, which does not count as an integer.

    Before NumPy 2.3 ``np.bool_`` could be used as an index.
    """
    return isinstance(value, bool | np.bool_)


def brief(thing: object) -> str:
    """Return the beginning of an object's ``repr`` in one line, even if it has several lines."""
    return " ".join(repr(thing).split())[:80]


def suggest(name: str, names: Iterable[str], otherwise: str = "") -> str:
    """Return ``; did you mean 'greedy'?`` if one of the names is similar, else ``otherwise``."""
    import difflib  # takes 5 ms

    similar = difflib.get_close_matches(name, sorted(names), n=1)
    return f"; did you mean {similar[0]!r}?" if similar else otherwise


def describe_error(error: BaseException, with_type: bool = True) -> str:
    """Return an error as one short line without control characters.

    ``with_type`` adds the error's type, and the file and line of the code that raised it.
    """
    try:
        text = " ".join(str(error).split())
    except BaseException:
        text = "(its message cannot be shown)"
    where = ""
    if with_type:
        package = os.path.join(FOLDER, "c4env", "")
        text = f"{type(error).__name__}: {text}"
        frames = traceback.extract_tb(error.__traceback__)
        others = [frame for frame in frames if not frame.filename.startswith(package)]
        own = [f for f in others if is_users(f.filename)] or others
        if own and own[-1].filename.endswith(".py"):  # the latest line of the user's
            where = f" ({os.path.basename(own[-1].filename)}, line {own[-1].lineno})"
    # Escape control sequences and halves of surrogate pairs.
    shown = (c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[:REASON])
    return "".join(shown) + where
