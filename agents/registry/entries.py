"""A line of the table of agents, and an option as a class declares it.

Both are plain data, the same for boards of every size.
"""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from c4env.agents.errors import InvalidValue

REQUIRED: Final = object()
"""The default of an option that must be given."""


class Between(NamedTuple):
    """What a number may be: ``depth: Annotated[int, Between(1, 42)]``. A float is then finite."""

    low: float
    high: float = math.inf


class Named(NamedTuple):
    """The names that a text may be; other texts and values are left to the class."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Option:
    """One option of an agent: how its value is read from text, and what it may be."""

    name: str
    kind: type  # int, float, bool or str
    default: Any  # REQUIRED where there is none
    help: str = ""
    low: float = -math.inf
    high: float = math.inf
    choices: tuple[str, ...] = ()  # of a text: the names it may be
    optional: bool = False  # None is a value
    open: bool = False  # texts and values beyond these are left to the class

    def parse(self, agent: str, value: Any, text: bool = True) -> Any:
        """The value of a spec's text, or of an argument, checked.

        Args:
            agent: what an error begins with.
            value: a text, or a value.
            text: numbers, truth values and None may be texts, too.

        Raises:
            InvalidValue: not of the kind, out of range, or a number that is not finite.
        """
        if self.optional and (value is None or (text and value == "None")):
            return None
        if self.open and not isinstance(value, str):
            return value
        try:
            parsed = _read(self.kind, value, text)
        except (KeyError, OverflowError, TypeError, ValueError):
            raise self._wrong(agent, value) from None
        if self.kind in (int, float):
            finite = parsed != math.inf or math.isinf(self.low)
            fits = finite and self.low <= parsed <= self.high
        else:
            fits = self.open or not self.choices or parsed in self.choices
        if not fits:
            raise self._wrong(agent, value)
        return parsed

    def _wrong(self, agent: str, value: Any) -> InvalidValue:
        expected = {str: "text", bool: "true or false"}.get(self.kind, self.kind.__name__)
        if self.choices:
            expected = f"one of {', '.join(self.choices)}"
        elif not math.isinf(self.high):
            expected += f" between {self.low:g} and {self.high:g}"
        elif not math.isinf(self.low):
            finite = "finite " if self.kind is float else ""
            expected = f"{finite}{expected} of at least {self.low:g}"
        if self.optional:
            expected += ", or None"
        return InvalidValue(f"{agent}: {self.name}={value!r}: expected {expected}")


def require_choice(agent: str, name: str, value: str, choices: Collection[str]) -> None:
    """See that an option has one of its values.

    Raises:
        InvalidValue: it has none of them.
    """
    if value not in choices:
        raise InvalidValue(f"{agent}: {name}={value!r}: expected one of {', '.join(choices)}")


def _read(kind: type, value: Any, text: bool) -> Any:
    """A value as one of a kind; KeyError, OverflowError, TypeError or ValueError if it is none."""
    if kind is str:
        return os.fspath(value)
    if isinstance(value, str):
        if not text:
            raise TypeError
        return _FLAGS[value.lower()] if kind is bool else kind(value)
    if isinstance(value, bool | np.bool_) != (kind is bool):
        raise TypeError
    return operator.index(value) if kind is int else kind(value)


_FLAGS: Final = {"true": True, "false": False, "1": True, "0": False}


@dataclass(frozen=True, slots=True)
class Entry:
    """One agent of the table; its options are those that the target declares."""

    name: str
    target: str  # module:attribute of a class or function, imported on first use
    summary: str
    argument: str = ""  # the option that a spec gives without its key: name:argument
    needs: tuple[str, ...] = ()  # modules of other packages that it cannot do without
    any_board: bool = False  # it plays on boards of every size (c4env.board), not on 6x7x4 alone
    network: bool = False  # it asks over the network, which may cost money: never just to try it
