"""A line of the table of agents, and an option as a class declares it.

Both are plain data, the same for boards of every size.
"""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from c4env.agents.errors import InvalidValue

REQUIRED: Final = object()
"""The default of an option that must be given."""


@dataclass(frozen=True, slots=True)
class Between:
    """What a number may be: ``depth: Annotated[int, Between(1, 42)]``. A float is then finite."""

    low: float
    high: float = math.inf


@dataclass(frozen=True, slots=True)
class Named:
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

    def parse(self, agent: str, value: Any) -> Any:
        """The value of a spec's text, or of an argument, checked.

        Raises:
            InvalidValue: not of the kind, out of range, or a number that is not finite.
        """
        if self.optional and value in (None, "None"):
            return None
        if self.open and not isinstance(value, str):
            return value
        try:
            parsed = _READERS[self.kind](value)
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


def _read_int(value: Any) -> int:
    return int(value) if isinstance(value, str) else operator.index(_no_bool(value))


def _read_float(value: Any) -> float:
    return float(_no_bool(value))


def _read_bool(value: Any) -> bool:
    return _FLAGS[value.lower()] if isinstance(value, str) else _BOOLS[type(value)](value)


def _no_bool(value: Any) -> Any:
    if type(value) in _BOOLS:
        raise TypeError
    return value


_FLAGS: Final = {"true": True, "false": False, "1": True, "0": False}
_BOOLS: Final = {bool: bool, np.bool_: bool}
_READERS: Final[dict[type, Callable[[Any], Any]]] = {
    int: _read_int,
    float: _read_float,
    bool: _read_bool,
    str: os.fspath,
}


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
