"""A line of the table of agents: a name, where the agent is, and the options it takes.

The table is data: it says what options an agent takes without importing the agent,
whose module compiles kernels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Final

from c4env.agents.errors import InvalidValue

REQUIRED: Final = object()
"""The default of an option that must be given."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option of an agent: how its value is read from text, and what it may be."""

    name: str
    kind: Callable[[str], Any]  # int, float, bool or str
    default: Any  # REQUIRED where there is none
    help: str
    low: float = -math.inf
    high: float = math.inf
    choices: tuple[str, ...] = ()  # of a text: the names it may be; an import path may do too
    finite: bool = True  # of a float: inf is no value of it

    def parse(self, agent: str, value: Any) -> Any:
        """The value of a spec's text, or of a keyword argument, checked.

        Raises:
            InvalidValue: not of the kind, out of range, or a number that is not finite.
        """
        if self.kind is str and callable(value):  # a heuristic as a function
            return value
        expected = self.kind.__name__
        if self.kind is float and self.finite:
            expected = "finite float"
        if not math.isinf(self.high):
            expected = f"{self.kind.__name__} between {self.low:g} and {self.high:g}"
        elif not math.isinf(self.low):
            expected += f" of at least {self.low:g}"
        wrong = InvalidValue(f"{agent}: {self.name}={value!r}: expected {expected}")
        if isinstance(value, bool) or (self.kind is int and isinstance(value, float)):
            raise wrong
        try:
            parsed = _FLAGS[value.lower()] if self.kind is bool else self.kind(value)
            if self.kind in (int, float) and not self.low <= parsed <= self.high:
                raise wrong
            if self.kind is float and self.finite and math.isinf(parsed):
                raise wrong
        except (KeyError, OverflowError, TypeError, ValueError):
            raise wrong from None
        return parsed


def require_choice(agent: str, name: str, value: str, choices: Collection[str]) -> None:
    """See that an option has one of its values.

    Raises:
        InvalidValue: it has none of them.
    """
    if value not in choices:
        raise InvalidValue(f"{agent}: {name}={value!r}: expected one of {', '.join(choices)}")


_FLAGS: Final = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Entry:
    """One agent of the table."""

    name: str
    target: str  # module:attribute of a class or function, imported on first use
    summary: str
    options: tuple[Option, ...] = ()
    argument: str = ""  # the option that a spec gives without its key: name:argument
    needs: tuple[str, ...] = ()  # modules of other packages that it cannot do without
    any_board: bool = False  # it plays on boards of every size (c4env.board), not on 6x7x4 alone
    network: bool = False  # it asks over the network, which may cost money: never just to try it
