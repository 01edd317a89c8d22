"""Import paths such as ``mine.py:Agent``, by which a spec names a user's agent or heuristic.

The module also holds the hints and the one-line descriptions of errors in a user's code.
"""

from __future__ import annotations

import difflib
import importlib
import os
import sys
import traceback
import types
from collections.abc import Iterable
from importlib.machinery import PathFinder
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any, Final

from c4env.errors import C4Error, WrongBoard

_folders: Final[list[str]] = []
"""The folders of the files that specs have named in this process."""


def import_attribute(path: str) -> Any:
    """Import the object that ``package.module:attribute`` or ``FILE.py:attribute`` names.

    The folder of a file, and for a module the current directory, joins the end of ``sys.path``. So
    the file may import the modules beside it, at once or during a game. A file that was edited is
    read again; the modules beside it are not.

    Raises:
        ImportError, AttributeError: the object does not exist, or the module raises an error.
    """
    module_name, _, attribute = path.rpartition(":")
    if not module_name:
        raise ImportError(f"{path!r} names no module")
    try:
        if module_name.endswith(".py"):
            module = _import_file(module_name)
        else:
            if not module_name.startswith("c4env."):
                append_to_path(os.getcwd())
            module = importlib.import_module(module_name)
    except ImportError:
        raise
    except (Exception, SystemExit) as error:  # the user's code may raise any error
        raise ImportError(f"importing {module_name!r} raised {format_error(error)}") from error
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
    except (ImportError, AttributeError) as error:
        tail = "" if error.__cause__ else f"; expected {expected}"  # else the module itself failed
        raise error_type(f"{who}: {error}{tail}") from error
    if not callable(value):
        raise error_type(f"{who}: {value!r} is not a function or class; expected {expected}")
    return value


def append_to_path(folder: str) -> None:
    """Let Python import the modules of a folder, after all others."""
    if folder not in sys.path:
        sys.path.append(folder)


def _import_file(path: str) -> types.ModuleType:
    """Import a Python file as ``import`` would, by the file's name where no module has it."""
    file = os.path.realpath(path)
    if not os.path.isfile(file):
        raise ImportError(f"there is no file {path!r}")
    folder, base = os.path.split(file)
    if folder not in _folders:
        _require_other_names(folder)
        _folders.append(folder)
        append_to_path(folder)
    name = base.removesuffix(".py")
    importlib.invalidate_caches()  # the file may be new
    importable = PathFinder.find_spec(name) if name.isidentifier() else None
    loaded = getattr(sys.modules.get(name), "__file__", file) or ""
    if importable is None or not (
        os.path.realpath(importable.origin or "") == os.path.realpath(loaded) == file
    ):
        name = file.replace(".", "_")  # pickle reads a dot as that of a package
    stamp = os.stat(file).st_mtime_ns
    if name not in sys.modules or getattr(sys.modules[name], "c4env_stamp", stamp) != stamp:
        _run_as_module(name, file)
        vars(sys.modules[name])["c4env_stamp"] = stamp
    return sys.modules[name]


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


def _require_other_names(folder: str) -> None:
    """Refuse a folder whose modules this process has already imported from another one."""
    for module in [*sys.modules.values()]:
        file = os.path.realpath(getattr(module, "__file__", None) or "")
        same_name = os.path.join(folder, os.path.basename(file))
        is_helper = os.path.dirname(file) in _folders and not hasattr(module, "c4env_stamp")
        if is_helper and os.path.isfile(same_name):
            raise ImportError(
                f"{same_name} has the name of {file}, which this process has imported: expected "
                "other names, or specs in a run, where each has a process of its own"
            )


def file_hint(name: str, spec: str) -> str:
    """Return ``; did you mean {spec!r}?`` if there is a file ``name``, else an empty text."""
    return f"; did you mean {spec!r}?" if os.path.isfile(name) else ""


def suggest(name: str, names: Iterable[str], otherwise: str = "") -> str:
    """Return ``; did you mean 'greedy'?`` if one of the names is similar, else ``otherwise``."""
    similar = difflib.get_close_matches(name, sorted(names), n=1)
    return f"; did you mean {similar[0]!r}?" if similar else otherwise


def format_error(error: BaseException) -> str:
    """Describe an error in a user's code in one line: type, message, file and line number."""
    message = " ".join(str(error).split())
    frame = traceback.extract_tb(error.__traceback__)[-1]
    place = ""
    # A SyntaxError's message has file and line; a missing module has neither.
    if not isinstance(error, SyntaxError) and "importlib" not in frame.filename:
        place = f" ({os.path.basename(frame.filename)}, line {frame.lineno})"
    return f"{type(error).__name__}: {message[:300]}{place}"
