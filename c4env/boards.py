"""Boards of other sizes: this package, loaded once more under another name.

``c4env.board(5, 6, 4)`` returns the package for 5 rows, 6 columns and lines of 4 discs: the module
``c4env.on_5x6x4``, loaded from the same files. In them ``from .x import`` means the module of my
board, and ``from c4env.x import`` the module that all boards share. Each board has its own
``c4env.geometry``, which reads the size from its module name. So the size is a compile-time
constant, and each board has its own classes. ``docs/explanation/boards.md`` has a picture.

``SHARED`` and ``STANDARD_ONLY`` list the modules that are loaded once. All others are of a board.
"""

from __future__ import annotations

import importlib
import operator
import re
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec, spec_from_file_location
from types import ModuleType
from typing import Any, Final, NamedTuple, Self

from c4env.errors import InvalidOption, WrongBoard

ROOT: Final = "c4env"
MOST_BITS: Final = 63  # bits of an int64 for a board; a column has rows + 1 bits
MOST_COLUMNS: Final = 15  # columns are written 1 to 9, then a to f
LONGEST: Final = 8  # discs in a line; the shift between its ends must be less than 64


class Size(NamedTuple):
    """The size of a board; ``str(size)`` has the form ``5x6x4``."""

    rows: int
    columns: int
    connect: int  # discs in a row that win

    def __str__(self) -> str:
        return f"{self.rows}x{self.columns}x{self.connect}"

    @classmethod
    def of(cls, rows: Any, columns: Any, connect: Any) -> Self:
        """Check three numbers and return them as a size.

        Raises:
            InvalidOption: a number is not an integer, or no board has that size.
        """
        numbers = (rows, columns, connect)
        try:
            size = cls(*(-1 if isinstance(n, bool) else operator.index(n) for n in numbers))
        except TypeError:
            raise InvalidOption(f"board {numbers}: expected three integers") from None
        fits = size.rows >= 2 and size.columns * (size.rows + 1) <= MOST_BITS
        if not fits or not 3 <= size.connect <= min(size.columns, LONGEST):
            raise InvalidOption(
                f"board {size}: expected 2 rows or more, columns * (rows + 1) of at most "
                f"{MOST_BITS}, and lines of 3 to {LONGEST} discs, no longer than a row"
            )
        if size.columns > MOST_COLUMNS:
            raise InvalidOption(f"board {size}: expected at most {MOST_COLUMNS} columns")
        return size

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a size such as ``5x6x4``: rows, columns, discs in a row that win.

        Raises:
            InvalidOption: the text is not a size, or no board has that size.
        """
        if not re.fullmatch(r"\d{1,3}x\d{1,3}x\d{1,3}", text):
            raise InvalidOption(f"board {text!r}: expected ROWSxCOLUMNSxLINE, as in 6x7x4 or 5x6x4")
        return cls.of(*map(int, text.split("x")))


STANDARD: Final = Size(6, 7, 4)

_ON_BOARD: Final = re.compile(rf"{ROOT}\.on_(\d+x\d+x\d+)((?:\.\w+)*)")

# tests/test_architecture.py compares both lists with what the modules import.
SHARED: Final = """
    arrays boards errors files jit lazy system envs.drand48 envs.registration
    agents.adapters.process agents.entries agents.heuristics.weights agents.imports agents.levels
    agents.search.threads
    evaluation.rating.fit evaluation.rating.sprt evaluation.seeds evaluation.store.lines
    evaluation.tables
"""
"""The modules that know no board; a folder stands for all modules in it."""

STANDARD_ONLY: Final = """
    envs.text
    agents.adapters.chat agents.network agents.search.deepening agents.search.rustport
    agents.selfplay.alphazero agents.selfplay.folder agents.selfplay.games agents.selfplay.gumbel
    agents.selfplay.network agents.selfplay.ppo agents.selfplay.train
    agents.solver.exam agents.solver.twelve
    evaluation.cli.check evaluation.cli.data evaluation.cli.leaderboard evaluation.cli.quality
    evaluation.cli.refute evaluation.cli.web evaluation.exact evaluation.report.models
    evaluation.report.page evaluation.report.plots evaluation.studies.leaderboard
    evaluation.studies.stable_baselines evaluation.studies.strength evaluation.web
"""
"""The modules for 6x7x4 alone."""


def is_in(names: str, module: str) -> bool:
    """Return whether a list such as ``SHARED`` has a module, named as for 6x7x4."""
    return any(f"{module}.".startswith(f"{ROOT}.{name}.") for name in names.split())


def board(rows: int, columns: int | None = None, connect: int = STANDARD.connect) -> ModuleType:
    """Return the version of this package for a board size; every version has the same names.

    Args:
        rows: 2 or more; ``columns * (rows + 1)`` is at most 63.
        columns: at most 15. Move strings write them as 1 to 9, then a to f.
        connect: discs in a row that win, 3 to 8, at most ``columns``.

    Returns:
        the module ``c4env.on_ROWSxCOLUMNSxCONNECT``; for 6, 7 and 4 ``c4env`` itself.

    Raises:
        InvalidOption: no board has that size.

    Example:
        >>> small = board(4, 4)
        >>> small.Position.parse("11").legal_columns()
        (0, 1, 2, 3)
    """
    if columns is None:
        raise InvalidOption(f"board({rows!r}): expected rows and columns, such as board(5, 6)")
    return importlib.import_module(root_of(Size.of(rows, columns, connect)))


def root_of(size: Size) -> str:
    """Return the name of this package for a board size."""
    return ROOT if size == STANDARD else f"{ROOT}.on_{size}"


def size_of(module: str) -> Size | None:
    """Return the board size of a module; None for a shared one, and for other packages'."""
    if match := _ON_BOARD.fullmatch(module):
        return Size.parse(match[1])
    return STANDARD if module.partition(".")[0] == ROOT and not is_in(SHARED, module) else None


def for_board(thing: Any, rows: int, columns: int, connect: int) -> Any:
    """Return the counterpart of a ``c4env`` class or function for a board size."""
    inner = thing.__module__.removeprefix(root_of(size_of(thing.__module__) or STANDARD))
    module = importlib.import_module(root_of(Size.of(rows, columns, connect)) + inner)
    return getattr(module, thing.__name__)


def require_board(thing: Any, size: Size, name: object) -> None:
    """Raise an error if a ``c4env`` function, class or object is made for another board size.

    A user's class has the board size of its ``c4env`` base class.

    Raises:
        WrongBoard: the thing is made for another size; the message begins with ``name``.
    """
    kind = thing if isinstance(thing, type) else type(thing)
    modules = (str(getattr(owner, "__module__", "")) for owner in (thing, *kind.__mro__))
    made_for = next(filter(None, map(size_of, modules)), size)
    if made_for != size:
        raise WrongBoard(f"{name} is made for {made_for}, not for {size}")


class _Finder:
    """Finds modules named ``c4env.on_5x6x4.module``."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        match = _ON_BOARD.fullmatch(name)
        if match is None:
            return None
        standard = ROOT + match[2]  # the module's name for 6x7x4
        if is_in(SHARED, standard):
            raise WrongBoard(f"{name}: all boards share {standard}")
        if is_in(STANDARD_ONLY, standard):
            raise WrongBoard(f"{standard} is made for {STANDARD}, not for {Size.parse(match[1])}")
        # PathFinder looks into the folder, and imports nothing of 6x7x4.
        spec = PathFinder.find_spec(standard, path) if match[2] else find_spec(ROOT)
        if spec is None or spec.origin is None:
            return None
        folders = spec.submodule_search_locations  # None unless it is a package
        return spec_from_file_location(name, spec.origin, submodule_search_locations=folders)


sys.meta_path.insert(0, _Finder)  # before the one that knows folders, and would not check
