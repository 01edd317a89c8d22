"""Import paths such as ``mine.py:Agent``, by which a spec names a user's agent or heuristic.

The module also holds the hints and the one-line descriptions of errors in a user's code.
"""

from __future__ import annotations

import ast
import importlib
import os
import sys
import traceback
import types
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.machinery import FrozenImporter, PathFinder
from importlib.util import module_from_spec, resolve_name, spec_from_file_location
from typing import Any, Final

from c4env.errors import C4Error, InvalidOption, WrongBoard

REASON: Final = 300  # the most characters of an agent's error to keep
_RUNNING: Final = {"c4env", "__main__"}  # what this process runs; a folder has no part in it

keeps_first = False
"""Whether this process plays one spec: a folder that it imports from stays first on the path."""


def import_attribute(path: str) -> Any:
    """Import the object that ``package.module:attribute`` or ``FILE.py:attribute`` names.

    A file finds the modules beside it first, as with ``python FILE.py``, and a module those of the
    current folder, as with ``python -m`` (:func:`first_on_path`). A file that was edited is read
    again; the modules beside it are not.

    Raises:
        ImportError, AttributeError: the object does not exist, or the module raises an error.
        InvalidOption: Python would take another module for one that the file imports.
    """
    module_name, _, attribute = path.rpartition(":")
    if not module_name:
        raise ImportError(f"{path!r} names no module")
    try:
        if module_name.endswith(".py"):
            module = _import_file(module_name)
        elif module_name.partition(".")[0] in _RUNNING:
            module = importlib.import_module(module_name)
        else:
            with first_on_path(os.getcwd(), [module_name]):
                module = importlib.import_module(module_name)
    except (ImportError, InvalidOption):
        raise
    except (Exception, SystemExit) as error:  # the user's code may raise any error
        raise ImportError(f"importing {module_name!r} raised {describe_error(error)}") from error
    return getattr(module, attribute)


def import_callable(path: str, error_type: type[C4Error], who: str, expected: str) -> Any:
    """Import a class or function by its import path (:func:`import_attribute`).

    Raises:
        error_type: the path names none; the message begins with ``who`` and ends with ``expected``.
    """
    try:
        value = import_attribute(path)
    except WrongBoard:
        raise
    except (ImportError, AttributeError, InvalidOption) as error:
        said = error.__cause__ or isinstance(error, InvalidOption)  # else there is none
        tail = "" if said else f"; expected {expected}"
        raise error_type(f"{who}: {error}{tail}") from error
    if not callable(value):
        raise error_type(f"{who}: {value!r} is not a function or class; expected {expected}")
    return value


@contextmanager
def first_on_path(folder: str, names: Iterable[str] = ()) -> Iterator[None]:
    """A context in which Python looks for modules in a folder first; afterwards it does so last.

    A process that plays one spec goes on looking there first. ``names`` are the modules that the
    code in the context imports, now or later (:func:`require_own_modules`).
    """
    importlib.invalidate_caches()  # a file may be new
    if not keeps_first or sys.path[:1] != [folder]:
        sys.path.insert(0, folder)
    try:
        require_own_modules(names, folder)
        yield
    finally:
        if not keeps_first and folder in sys.path:
            sys.path.remove(folder)
            if folder not in sys.path:
                sys.path.append(folder)
    require_own_modules(names, folder)  # of those that are imported later, as in a move


def require_own_modules(names: Iterable[str], folder: str) -> None:
    """Refuse modules of a folder if Python would take others of the same names.

    Python takes a module that is loaded, whatever ``sys.path`` says.

    Raises:
        InvalidOption: Python would take another module for one of :func:`modules_in`.
    """
    for name, file in modules_in(folder, names).items():
        found = _file_of(sys.modules.get(name))
        if not found and "." not in name:
            found = _file_of(PathFinder.find_spec(name))
        if found and found != file:
            raise InvalidOption(
                f"{file} has the name of {found}, which Python would import here: expected "
                "another name, or specs in a run, where each has a process of its own"
            )


def modules_in(folder: str, names: Iterable[str]) -> dict[str, str]:
    """Return the files of the modules in a folder that are imported, by name.

    These are modules among ``names``, and those that their files' import statements name in turn.
    Modules that are part of Python's program or run already are left out.
    """
    files: dict[str, str] = {}
    waiting = [*names]
    while waiting:
        name = waiting.pop()
        parent, _, inner = name.rpartition(".")
        if parent:
            waiting.append(parent)
        is_pythons = name in sys.builtin_module_names or FrozenImporter.find_spec(name)
        if not name or name in files or is_pythons or name.partition(".")[0] in _RUNNING:
            continue
        # Its last part alone: a folder without __init__.py would look for a parent that is loaded.
        spec = PathFinder.find_spec(inner, [os.path.join(folder, *parent.split("."))])
        if spec is not None and (file := _file_of(spec)):
            files[name] = file
            waiting += imports_of(file, name if spec.submodule_search_locations else parent)
    return files


def imports_of(file: str, package: str = "") -> set[str]:
    """Return the modules that the import statements of a file name; none if it is not Python.

    ``from a import b`` may name a module ``a.b``, so it counts as well.
    """
    try:
        with open(file, "rb") as source:
            tree = ast.parse(source.read())
    except (SyntaxError, ValueError):
        return set()
    names: set[str] = set()
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (package or not node.level):
            base = "." * node.level + (node.module or "")
            base = resolve_name(base, package) if base.startswith(".") else base
            names.update((base, *(f"{base}.{alias.name}" for alias in node.names)))
    return names


def _statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a tree, without what only type checkers read."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        yield node
        yield from _statements(node)


def _import_file(path: str) -> types.ModuleType:
    """Import a Python file as ``import`` would, by the file's name where no module has it."""
    file = os.path.realpath(path)
    if not os.path.isfile(file):
        raise ImportError(f"there is no file {path!r}")
    folder, base = os.path.split(file)
    importlib.invalidate_caches()
    name = base.removesuffix(".py")
    others = {_file_of(sys.modules.get(name))}
    if not keeps_first:
        others.add(_file_of(PathFinder.find_spec(name)))
    is_builtin = name in sys.builtin_module_names or name in _RUNNING
    if not name.isidentifier() or is_builtin or not others <= {"", file}:
        name = file.replace(".", "_")  # pickle reads a dot as that of a package
    stamp = os.stat(file).st_mtime_ns
    with first_on_path(folder, imports_of(file)):
        if name not in sys.modules or getattr(sys.modules[name], "c4env_stamp", stamp) != stamp:
            _run_as_module(name, file)
            vars(sys.modules[name])["c4env_stamp"] = stamp
    return sys.modules[name]


def _file_of(module: object) -> str:
    """Return the file of a module or of its spec; an empty text if there is none."""
    origin = getattr(module, "__file__", None) or getattr(module, "origin", None)
    return os.path.realpath(origin) if origin and os.path.isfile(origin) else ""


def _run_as_module(name: str, file: str) -> None:
    """Run a file as the module ``name``."""
    spec = spec_from_file_location(name, file)
    assert spec is not None  # since there is a file
    assert spec.loader is not None
    sys.modules[name] = module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, ImportError) and "relative import" in str(error):
            raise ImportError(
                f"{error}; a module of a package is named package.module:NAME"
            ) from error
        raise


def file_hint(name: str, spec: str) -> str:
    """Return ``; did you mean {spec!r}?`` if there is a file ``name``, else an empty text."""
    return f"; did you mean {spec!r}?" if os.path.isfile(name) else ""


def describe_error(error: BaseException, with_type: bool = True) -> str:
    """Describe an error in one short line without control characters.

    ``with_type`` adds the error's type, and the file and line of the code that raised it.
    """
    try:
        text = " ".join(str(error).split())
    except BaseException:
        text = "(its message cannot be shown)"
    where = ""
    if with_type:
        from c4env.system import FOLDER

        package = os.path.join(FOLDER, "c4env", "")
        text = f"{type(error).__name__}: {text}"
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if not frame.filename.startswith(package)]
        if own and own[-1].filename.endswith(".py"):  # the latest line of the user's
            where = f" ({os.path.basename(own[-1].filename)}, line {own[-1].lineno})"
    # Escape control sequences and halves of surrogate pairs.
    shown = (c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[:REASON])
    return "".join(shown) + where
