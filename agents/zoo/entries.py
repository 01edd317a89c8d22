"""A line of the table of agents: a name, where the agent is, and the options it takes.

The table is data: it says what options an agent takes without importing the agent,
whose module compiles kernels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from agents.errors import InvalidValue

REQUIRED: Final = object()
"""The default of an option that must be given."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option of an agent: how its value is read from text, and what it may be."""

    name: str
    kind: Callable[[str], Any]  # int, float or str
    default: Any  # REQUIRED where there is none
    help: str
    low: float = -math.inf
    high: float = math.inf
    choices: tuple[str, ...] = ()  # of a text: the names it may be; an import path may do too

    def parse(self, agent: str, value: Any) -> Any:
        """The value of a spec's text, or of a keyword argument, checked.

        Raises:
            InvalidValue: not of the kind, or out of range.
        """
        if self.kind is str and callable(value):  # a heuristic as a function
            return value
        expected = self.kind.__name__
        if not math.isinf(self.high):
            expected += f" between {self.low:g} and {self.high:g}"
        elif not math.isinf(self.low):
            expected += f" of at least {self.low:g}"
        wrong = InvalidValue(f"{agent}: {self.name}={value!r}: expected {expected}")
        if isinstance(value, bool) or (self.kind is int and isinstance(value, float)):
            raise wrong
        try:
            parsed = self.kind(value)
        except (TypeError, ValueError):
            raise wrong from None
        if self.kind is not str and not (self.low <= parsed <= self.high and math.isfinite(parsed)):
            raise wrong
        return parsed


@dataclass(frozen=True, slots=True)
class Entry:
    """One agent of the table."""

    name: str
    target: str  # module:attribute of a class or function, imported on first use
    summary: str
    options: tuple[Option, ...] = ()
    argument: str = ""  # the option that a spec gives without its key: name:argument
    needs: tuple[str, ...] = ()  # modules of other packages that it cannot do without
