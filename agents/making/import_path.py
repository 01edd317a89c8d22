"""Import paths such as ``mine.py:Agent``, by which a spec names a user's agent or heuristic."""

from __future__ import annotations

import ast
import functools
import importlib
import os
import sys
import types
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.machinery import PathFinder, SourceFileLoader
from importlib.util import module_from_spec, resolve_name, spec_from_file_location
from pathlib import Path
from typing import Any, Final

from c4env.errors import C4Error, InvalidOption, WrongBoard, describe_error
from c4env.system import is_users

_RUNNING: Final = {"c4env", "__main__"}  # this process runs them; a folder cannot replace them
INIT: Final = "__init__.py"


def import_attribute(path: str) -> Any:
    """Return the object that ``package.module:attribute`` or ``FILE.py:attribute`` names.

    A file first finds the modules beside it, as with ``python FILE.py``. A module first finds the
    modules of the current folder, as with ``python -m``. A file that has changed is compiled again.
    The modules that the file imports stay loaded, as in Python.

    Raises:
        ImportError, AttributeError: the object does not exist, or the module raises an error.
        InvalidOption: Python took a module from elsewhere, though the file's folder has a module of
            that name (:func:`require_own_modules`).
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
    """Return the class or function of an import path (:func:`import_attribute`).

    Raises:
        error_type: the path names neither a class nor a function. The message begins with ``who``
            and ends with ``expected``.
    """
    try:
        value = import_attribute(path)
    except WrongBoard:
        raise
    except (ImportError, AttributeError, InvalidOption) as error:
        said = error.__cause__ or isinstance(error, InvalidOption)  # else nothing exists there
        tail = "" if said else f"; expected {expected}"
        raise error_type(f"{who}: {error}{tail}") from error
    if not callable(value):
        raise error_type(f"{who}: {value!r} is not a function or class; expected {expected}")
    return value


@contextmanager
def first_on_path(folder: str, names: Iterable[str] = ()) -> Iterator[None]:
    """A context in which Python looks for modules in a folder first, and after which it does last.

    A folder that is already on the path keeps its place, such as the first in a run's process.
    ``names`` are the modules that the code in the context imports (:func:`require_own_modules`).
    """
    importlib.invalidate_caches()  # a file may be new
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        if folder in sys.path:
            sys.path.remove(folder)
        if folder not in sys.path:
            sys.path.append(folder)
        require_own_modules(folder, names)  # even after an error, which a wrong module may cause


def require_own_modules(folder: str, names: Iterable[str]) -> None:
    """Refuse modules that Python took from elsewhere, though a folder has files of their names.

    Python takes a module that is already loaded, whatever the path says, such as a ``helper`` of
    this session or of another agent. The check includes the modules that the files import in turn,
    and the user's folders on ``sys.path``, which the code may have changed.

    Raises:
        InvalidOption: Python took a module from elsewhere.
    """
    users = [path for path in sys.path if is_users(os.path.join(path, ""))]
    for name, file in modules_in([folder, *users], names).items():
        taken = file_of(sys.modules.get(name))
        if taken and taken != file:
            raise InvalidOption(
                f"{file} has the name of {taken}, which Python imports here: expected another name "
                "for it; two agents with modules of one name can play in a run, where each spec "
                "has its own process"
            )


def modules_in(folders: Iterable[str], names: Iterable[str]) -> dict[str, str]:
    """Return the files of modules by name, including the modules that these import in turn.

    A module is looked up in the folders in order. Modules in none of the folders are left out.
    """
    folders, waiting = [*folders], [*names]
    files: dict[str, str] = {}
    seen = {""}
    while waiting:
        name = waiting.pop()
        if name in seen or name.partition(".")[0] in _RUNNING or name in sys.builtin_module_names:
            continue
        seen.add(name)
        parent = name.rpartition(".")[0]
        waiting.append(parent)
        bases = [Path(folder, *name.split(".")) for folder in folders]
        for file in (file for base in bases for file in (base / INIT, base.with_suffix(".py"))):
            if file.is_file():
                files[name] = os.path.realpath(file)
                waiting += imports_of(str(file), name if file.name == INIT else parent)
                break
    return files


def imports_of(file: str, package: str = "") -> frozenset[str]:
    """Return the modules that the import statements of a file name; none if it is not Python.

    ``from a import b`` may name a module ``a.b``, so ``a.b`` is included.
    """
    try:
        return _imports_in(Path(file).read_bytes(), package)
    except (SyntaxError, ValueError):
        return frozenset()


@functools.lru_cache(64)
def _imports_in(source: bytes, package: str) -> frozenset[str]:
    names: set[str] = set()
    for node in _statements(ast.parse(source)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (package or not node.level):
            base = "." * node.level + (node.module or "")
            base = resolve_name(base, package) if base.startswith(".") else base
            names.update((base, *(f"{base}.{alias.name}" for alias in node.names)))
    return frozenset(names)


def _statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a tree, except code that only type checkers read."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        yield node
        yield from _statements(node)


class _Source(SourceFileLoader):
    """Compiles the source of a file, as ``python FILE.py`` does, and never takes stale bytecode."""

    def get_code(self, fullname: str) -> types.CodeType:
        """Return the code of the file as it is now."""
        code: types.CodeType = self.source_to_code(self.get_data(self.path), self.path)
        return code


def _import_file(path: str) -> types.ModuleType:
    """Import a Python file as ``import`` would, under the file's name if no module has the name."""
    file = os.path.abspath(path)  # a link is not followed, as in __file__ of `python FILE.py`
    if not os.path.isfile(file):
        raise ImportError(f"file {path!r} does not exist")
    importlib.invalidate_caches()
    name = os.path.basename(file).removesuffix(".py")
    if not name.isidentifier() or _is_taken(name, file):
        name = file.replace(".", "_")  # pickle reads a dot as part of a package's name
    source = Path(file).read_bytes()
    folder = os.path.dirname(os.path.realpath(file))
    with first_on_path(folder, imports_of(file)):
        if getattr(sys.modules.get(name), "c4env_source", None) != source:
            _run_as_module(name, file)
            vars(sys.modules[name])["c4env_source"] = source
    return sys.modules[name]


def _is_taken(name: str, file: str) -> bool:
    """Return whether a module from another file has a name."""
    if name in sys.builtin_module_names or name in _RUNNING:
        return True
    if name in sys.modules:
        return os.path.abspath(getattr(sys.modules[name], "__file__", None) or "") != file
    found = file_of(PathFinder.find_spec(name))
    return found not in ("", os.path.realpath(file))


def file_of(module: object) -> str:
    """Return the file of a module or its spec; for a zipped module the archive; "" if none."""
    origin = getattr(module, "__file__", None) or getattr(module, "origin", None)
    if not isinstance(origin, str):
        return ""
    file = os.path.realpath(origin)
    archive = next((str(path) for path in Path(file).parents if path.is_file()), "")
    return file if os.path.isfile(file) else archive


def _run_as_module(name: str, file: str) -> None:
    """Run a file as the module ``name``."""
    spec = spec_from_file_location(name, file, loader=_Source(name, file))
    assert spec is not None  # since there is a loader
    assert spec.loader is not None
    sys.modules[name] = module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, ImportError) and _is_of_package(error, file):
            raise ImportError(
                f"{error}; {os.path.basename(file)} is a module of a package: expected "
                "package.module:NAME, or FILE.py:NAME of a file beside the package that imports "
                "from it, as for another checkout"
            ) from error
        raise


def _is_of_package(error: ImportError, file: str) -> bool:
    """Return whether a file fails because it is a module of a package."""
    missing = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    return "relative import" in str(error) or missing in Path(file).parent.parts


def file_hint(name: str, spec: str) -> str:
    """Return ``; did you mean {spec!r}?`` if there is a file ``name``, else an empty text."""
    return f"; did you mean {spec!r}?" if os.path.isfile(name) else ""
