"""Boards of other sizes: an import hook loads this package's modules once for each size.

``c4env.board(5, 6, 4)`` returns this package for 5 rows, 6 columns and lines of 4 discs: the module
``c4env.on_5x6x4``. Its agents are ``c4env.on_5x6x4.agents``. These modules have the same sources as
the modules of 6x7x4, but import each other. Each board has its own ``c4env.geometry``, which reads
the size from its module name. So the size is a compile-time constant, and each board has its own
classes.

All boards share the modules that do not import the size, directly or indirectly. A module that
imports the size and works on any board sets ``__any_board__ = True``. Without this line, importing
the module for a board other than 6x7x4 is an error.
"""

from __future__ import annotations

import ast
import functools
import importlib
import operator
import re
import sys
from collections.abc import Iterable
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from types import CodeType, ModuleType
from typing import Any, Final, NamedTuple, Self

from c4env.errors import InvalidOption, WrongBoard
from c4env.sources import ROOT, imports_of, modules

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
        given = (rows, columns, connect)
        try:
            size = cls(*(-1 if isinstance(n, bool) else operator.index(n) for n in given))
        except TypeError:
            raise InvalidOption(f"board {given}: expected three integers") from None
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

_TWIN: Final = re.compile(rf"{ROOT}\.on_(?P<size>\d+x\d+x\d+)(?:\.(?P<inner>.+))?")
_SERVES: Final = re.compile(rb"^__any_board__ = True$", re.MULTILINE)


def board(rows: int, columns: int, connect: int = STANDARD.connect) -> ModuleType:
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
        c4env.board(5, 6).ConnectFourEnv(opponent="greedy")
    """
    return importlib.import_module(twin(ROOT, Size.of(rows, columns, connect)))


def size_of(module: str) -> Size | None:
    """Return the board size of a ``c4env`` module name; None for a module of another package."""
    if found := _TWIN.fullmatch(module):
        return Size.parse(found["size"])
    return STANDARD if module.partition(".")[0] == ROOT else None


def twin(module: str, size: Size) -> str:
    """Return the name of a module's counterpart for a board size.

    ``module`` may also have the form ``module:attribute``; only the module's name changes.
    Modules that all boards share, and modules of other packages, keep their name.
    """
    module, colon, attribute = module.partition(":")
    if found := _TWIN.fullmatch(module):
        module = ".".join(filter(None, (ROOT, found["inner"])))
    if size == STANDARD or module not in _bound_to_a_board():
        return module + colon + attribute
    return f"{ROOT}.on_{size}{module.removeprefix(ROOT)}{colon}{attribute}"


def twin_of(thing: Any, rows: int, columns: int, connect: int) -> Any:
    """Return the counterpart of a ``c4env`` class or function for a board size.

    Raises:
        InvalidOption: no board has that size.
    """
    module = twin(thing.__module__, Size.of(rows, columns, connect))
    return getattr(importlib.import_module(module), thing.__name__)


def require_board(thing: Any, size: Size, name: object) -> None:
    """Raise an error if a ``c4env`` function, class or object is made for another board size.

    A user's class has the board size of its ``c4env`` base class.

    Raises:
        WrongBoard: the thing is made for another size; the message begins with ``name``.
    """
    kind = thing if isinstance(thing, type) else type(thing)
    for each in (thing, *kind.__mro__):
        module = str(getattr(each, "__module__", ""))
        its = size_of(module)
        if its is not None and its != size and twin(module, size) != module:
            raise WrongBoard(f"{name} is made for {its}, not for {size}")


@functools.cache
def _bound_to_a_board() -> frozenset[str]:
    """Return the modules that import the board size, directly or indirectly, and their packages."""
    users: dict[str, set[str]] = {}
    for name, path in modules().items():
        for imported in imports_of(path.read_bytes(), everywhere=True):
            users.setdefault(imported, set()).add(name)
    found, left = set(), [f"{ROOT}.geometry"]
    while left:
        name = left.pop()
        if name and name not in found:
            found.add(name)
            left += [*users.get(name, ()), name.rpartition(".")[0]]
    return frozenset(found)


# -- how modules are loaded ----------------------------------------------------------


class _ForBoard(ast.NodeTransformer):
    """Rewrites the imports in a source to import the modules of a board size."""

    def __init__(self, size: Size) -> None:
        self._size = size

    def visit_Import(self, node: ast.Import) -> ast.AST:
        for alias in node.names:
            name = twin(alias.name, self._size)
            if name != alias.name:
                alias.name, alias.asname = name, alias.asname or alias.name
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> list[ast.AST]:
        """Return one import for each name, since only some names are modules with a counterpart."""
        return [ast.copy_location(self._import(node, alias), node) for alias in node.names]

    def _import(self, node: ast.ImportFrom, alias: ast.alias) -> ast.AST:
        module = node.module or ""
        name = f"{module}.{alias.name}"
        home = twin(name, self._size).rpartition(".")[0] if name in modules() else ""
        return ast.ImportFrom(home or twin(module, self._size), [alias], node.level)


class _Loader(SourceFileLoader):
    """Loads a module for a board size from the source that all boards share."""

    def get_code(self, fullname: str) -> CodeType:
        """Compile the source without Python's bytecode cache, which holds the code for 6x7x4."""
        size = size_of(fullname)
        assert size is not None  # the finder checked the name
        tree = _ForBoard(size).visit(ast.parse(self.get_data(self.path), self.path))
        code: CodeType = compile(tree, self.path, "exec", dont_inherit=True)
        return code


class _Finder:
    """Finds modules named ``c4env.on_5x6x4.module``."""

    @staticmethod
    def find_spec(
        name: str, path: Iterable[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        found = _TWIN.fullmatch(name)
        if found is None:
            return None
        usual = ".".join(filter(None, (ROOT, found["inner"])))
        file = modules().get(usual)
        if file is None:
            return None
        size = Size.parse(found["size"])
        is_package = file.name == "__init__.py"
        if not is_package and not _SERVES.search(file.read_bytes()):
            raise WrongBoard(f"{usual} is made for {STANDARD}, not for {size}")
        spec = spec_from_file_location(name, file, loader=_Loader(name, str(file)))
        if spec is not None and is_package:
            # Without folders, Python's own finder cannot load these modules unchanged.
            spec.submodule_search_locations = []
        return spec


sys.meta_path.append(_Finder)
