"""The same game on boards of other sizes: our modules, loaded once more for each size.

``c4env.board(5, 6, 4)`` is this package for 5 rows, 6 columns and lines of 4 discs, a module
called ``c4env.on_5x6x4``. Its modules are made of the same sources, with other numbers in
``c4env.geometry`` and with imports of each other instead of the modules of 6x7x4. So the size
stays a constant that is compiled in, for every board; and a class of one board is none of another.

Each package says which of its modules are made for any board, and which have nothing to do with
one and are shared. All others refuse to be loaded for a board they were not made for.
"""

from __future__ import annotations

import ast
import importlib
import operator
import re
import sys
from collections.abc import Callable, Iterable
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, Final, NamedTuple, Self

from c4env.errors import InvalidOption, WrongBoard

MOST_BITS: Final = 63  # of a board in an int64; each column has one more than rows
MOST_COLUMNS: Final = 15  # written 1 to 9, then a to f
LONGEST: Final = 8  # line: the shift from its one end to the other is less than 64


class Size(NamedTuple):
    """How large a board is; as text, ``5x6x4``."""

    rows: int
    columns: int
    connect: int  # discs in a row that win

    def __str__(self) -> str:
        return f"{self.rows}x{self.columns}x{self.connect}"

    @classmethod
    def of(cls, rows: Any, columns: Any, connect: Any) -> Self:
        """The size, if there can be such a board.

        Raises:
            InvalidOption: not such integers.
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
        """The size in a text such as ``5x6x4``: rows, columns, discs in a row that win.

        Raises:
            InvalidOption: not of the form, or there is no such board.
        """
        if not re.fullmatch(r"\d{1,3}x\d{1,3}x\d{1,3}", text):
            raise InvalidOption(f"board {text!r}: expected ROWSxCOLUMNSxLINE, as in 6x7x4 or 5x6x4")
        return cls.of(*map(int, text.split("x")))


STANDARD: Final = Size(6, 7, 4)

_OTHER: Final = re.compile(r"(?P<package>\w+)\.on_(?P<size>\d+x\d+x\d+)(\.(?P<inner>.+))?")


class _Package(NamedTuple):
    """What a package says of its modules, by their names within it."""

    folder: Path
    any_board: frozenset[str]
    shared: frozenset[str]

    def file(self, inner: str) -> Path | None:
        """The file of a module; None where there is none."""
        path = self.folder.joinpath(*inner.split(".")) if inner else self.folder
        files = (path / "__init__.py", path.with_suffix(".py"))
        return next((file for file in files if file.is_file()), None)


_packages: Final[dict[str, _Package]] = {}


def made_for_any_board(package: str, any_board: str, shared: str) -> Callable[..., ModuleType]:
    """Say which modules of a package serve other boards too.

    Args:
        package: the ``__name__`` that its ``__init__`` has, which is loaded for each board too.
        any_board: modules that are loaded once for each board, parted by blanks.
        shared: modules that have nothing to do with a board.

    Returns:
        the function ``board(rows, columns, connect=4)`` of the package.
    """
    name = package.partition(".")[0]
    if name == package:
        init = sys.modules[name].__file__
        assert init is not None  # it is a package with an __init__
        lists = (frozenset(modules.split()) for modules in (any_board, shared))
        _packages[name] = _Package(Path(init).parent, *lists)
        for module in list(sys.modules):  # boards that packages below are in use for
            if (found := _OTHER.fullmatch(module)) and not found["inner"]:
                importlib.import_module(f"{name}.on_{found['size']}")

    def board(rows: int, columns: int, connect: int = STANDARD.connect) -> ModuleType:
        """This package for another board: the same names, of that board.

        Args:
            rows: 2 or more; ``columns * (rows + 1)`` is at most 63.
            columns: at most 15. In notation they are 1 to 9, then a to f.
            connect: discs in a row that win, 3 to 8, and no more than there are columns.

        Raises:
            InvalidOption: there can be no such board.
        """
        return load(name, Size.of(rows, columns, connect))

    return board


def load(package: str, size: Size) -> ModuleType:
    """A package for a board; packages that stand on it too, if they are in use already."""
    if size == STANDARD:
        return sys.modules[package]
    found = importlib.import_module(f"{package}.on_{size}")
    for other in [name for name in _packages if name in sys.modules]:
        importlib.import_module(f"{other}.on_{size}")
    return found


def size_of(module: str) -> Size | None:
    """The board that a module of ours belongs to, by its name; None for modules of others."""
    other = _OTHER.fullmatch(module)
    if other and other["package"] in _packages:
        return Size.parse(other["size"])
    return STANDARD if module.partition(".")[0] in _packages else None


def require_board(thing: Any, size: Size, name: object) -> None:
    """Refuse a function or class of ours that belongs to another board.

    Raises:
        WrongBoard: it does.
    """
    its = size_of(str(getattr(thing, "__module__", "")))
    if its is not None and its != size:
        raise WrongBoard(f"{name} is made for {its}, not for {size}")


class AnyBoard:
    """A class whose objects are made for the board that ``rows``, ``columns``, ``connect`` name."""

    def __new__(
        cls, *args: Any, rows: Any = None, columns: Any = None, connect: Any = None, **options: Any
    ) -> Self:
        """An object of this class, or of the same class for another board.

        Raises:
            InvalidOption: there can be no such board.
            WrongBoard: a class derived from one of ours, which has a board.
        """
        ours = next(base for base in cls.__mro__ if size_of(base.__module__) is not None)
        size = size_of(ours.__module__)
        assert size is not None
        given = (rows, columns, connect)
        wanted = Size.of(*(a if b is None else b for a, b in zip(size, given, strict=True)))
        if wanted == size:
            return super().__new__(cls)
        if ours is not cls:
            raise WrongBoard(
                f"{cls.__name__} is made for {size}, not for {wanted}: expected a class derived "
                f"from c4env.board{tuple(wanted)}.{ours.__name__}"
            )
        twin: Any = importlib.import_module(_renamed(cls.__module__, wanted))
        load("c4env", wanted)
        return getattr(twin, cls.__name__)(*args, **options)  # type: ignore[no-any-return]  # by name


# -- how modules are loaded ----------------------------------------------------------


def _renamed(name: str, size: Size) -> str:
    """The name of a module of ours for a board; shared modules, and others, keep theirs."""
    if other := _OTHER.fullmatch(name):
        name = ".".join(filter(None, (other["package"], other["inner"])))
    top, _, inner = name.partition(".")
    package = _packages.get(top)
    if size == STANDARD or package is None or inner in package.shared or not package.file(inner):
        return name
    return f"{top}.on_{size}.{inner}".rstrip(".")


class _ForBoard(ast.NodeTransformer):
    """Rewrites a source for a board: the numbers of its size, and what names modules of ours."""

    def __init__(self, module: str, size: Size) -> None:
        self._module, self._size = module, size

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        name = getattr(node.target, "id", "").lower()
        if self._module.endswith(".geometry") and name in Size._fields:
            node.value = ast.copy_location(ast.Constant(getattr(self._size, name)), node)
        return self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> ast.AST:
        for alias in node.names:
            renamed = _renamed(alias.name, self._size)
            if renamed != alias.name:
                alias.name, alias.asname = renamed, alias.asname or alias.name
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        node.module = _renamed(node.module or "", self._size)
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        """Names of modules in texts, such as those that are imported when they are first used."""
        if isinstance(node.value, str) and re.fullmatch(r"\w+(\.\w+)+(:\w+)?", node.value):
            name, colon, attribute = node.value.partition(":")
            node.value = _renamed(name, self._size) + colon + attribute
        return node


class _Loader(SourceFileLoader):
    """Loads a module for a board from the source that it shares with all others."""

    def get_code(self, fullname: str) -> CodeType:
        """Compiled afresh: Python's own cache of compiled sources is that of 6x7x4."""
        found = _OTHER.fullmatch(fullname)
        assert found is not None  # as the finder has seen
        tree = ast.parse(self.get_data(self.path), self.path)
        tree = _ForBoard(fullname, Size.parse(found["size"])).visit(tree)
        code: CodeType = compile(tree, self.path, "exec", dont_inherit=True)
        return code


class _Finder:
    """Finds modules called ``package.on_5x6x4.module``, where other finders know none."""

    @staticmethod
    def find_spec(
        name: str, path: Iterable[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        found = _OTHER.fullmatch(name)
        package = _packages.get(found["package"]) if found else None
        if found is None or package is None:
            return None
        size, inner = Size.parse(found["size"]), found["inner"] or ""
        file = package.file(inner)
        if file is None:
            return None
        is_package = file.name == "__init__.py"
        if not is_package and inner not in package.any_board:
            raise WrongBoard(f"{found['package']}.{inner} is made for {STANDARD}, not for {size}")
        spec = spec_from_file_location(name, file, loader=_Loader(name, str(file)))
        if spec is not None and is_package:
            # No folders to search: Python's own finder would load modules as they are.
            spec.submodule_search_locations = []
        return spec


sys.meta_path.append(_Finder)
