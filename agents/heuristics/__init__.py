"""Heuristics: static evaluations of the leaves of a search."""

from typing import Final

from ...geometry import CONNECT, IS_STANDARD

WIN: Final = 1_000_000.0
"""The value of a won game in a search; heuristic values lie strictly between -WIN and WIN."""

_TABLE: Final = {  # each name, and whether this board has it; the function has ``_`` for ``-``
    "chain": CONNECT == 4,
    "lines": IS_STANDARD,
    "threats": IS_STANDARD,
    "window": CONNECT == 4,
    "window-b": CONNECT == 4,
    "none": CONNECT != 4,  # since the others count only lines of four
}
HEURISTIC_NAMES: Final = tuple(name for name, is_here in _TABLE.items() if is_here)
DEFAULT_HEURISTIC: Final = HEURISTIC_NAMES[0]
