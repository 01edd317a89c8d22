"""Other boards than the usual one."""

import importlib
from types import ModuleType

import c4env
from c4env.boards import Size

OTHER_BOARDS = tuple(
    map(Size.parse, ("4x4x4", "5x6x4", "4x4x3", "2x7x3", "3x5x4", "7x5x5", "8x7x6", "3x15x3"))
)
WIDEST = Size(6, 9, 4)  # of as many bits as there can be, 63


def part(size: Size, name: str) -> ModuleType:
    """A module as it is loaded for a board."""
    return importlib.import_module(f"{c4env.board(*size).__name__}.{name}")
