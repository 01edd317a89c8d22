"""Connect Four: the rules, and the environments built on them.

Names are imported when first used, so that importing the package compiles nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from c4env.observation import observe, position_from
    from c4env.position import Outcome, Position, format_moves, parse_moves

_HOME = {
    "Outcome": "c4env.position",
    "Position": "c4env.position",
    "format_moves": "c4env.position",
    "observe": "c4env.observation",
    "parse_moves": "c4env.position",
    "position_from": "c4env.observation",
}

__all__ = [
    "Outcome",
    "Position",
    "format_moves",
    "observe",
    "parse_moves",
    "position_from",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
