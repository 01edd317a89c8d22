"""Import paths, by which a spec names a user's agent or heuristic."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import os
import sys
import traceback
import types
from collections.abc import Iterable
from typing import Any, Final

from c4env.errors import C4Error, WrongBoard

main_objects: Final[dict[str, Any]] = {}
"""Objects imported from ``__main__``, keyed by import path. Another process cannot import these
objects: ``__main__`` is the script or the interactive session of this process."""


def import_attribute(path: str) -> Any:
    """Import the object that ``package.module:attribute`` or ``FILE.py:attribute`` names.

    A module may lie in the current directory. A file may import modules from the file's directory.
    During the import, this directory is the last of ``sys.path``, so installed packages have
    priority.

    Raises:
        ImportError, AttributeError: the object does not exist, or the module raises an error.
    """
    module_name, _, attribute = path.rpartition(":")
    if not module_name:
        raise ImportError(f"{path!r} names no module")
    is_file = module_name.endswith(".py")
    folder = os.path.dirname(os.path.abspath(module_name)) if is_file else os.getcwd()
    added = folder not in sys.path and (is_file or "" not in sys.path)
    if added:
        sys.path.append(folder)
    try:
        module = _import_file(module_name) if is_file else importlib.import_module(module_name)
    except ImportError:
        raise
    except (Exception, SystemExit) as error:  # the user's code may raise any error
        raise ImportError(f"importing {module_name!r} raised {in_a_line(error)}") from error
    finally:
        if added:
            sys.path.remove(folder)
    found = getattr(module, attribute)
    if module_name == "__main__":
        main_objects[path] = found
    return found


def import_callable(path: str, wrong: type[C4Error], who: str, expected: str) -> Any:
    """Import a class or function by its import path (:func:`import_attribute`).

    Args:
        path: the import path.
        wrong: the class of the error to raise.
        who: the beginning of the error's message.
        expected: the end of the error's message.

    Raises:
        wrong: the path does not name a class or function.
        WrongBoard: the module is made for another board size.
    """
    try:
        found = import_attribute(path)
    except WrongBoard:
        raise
    except (ImportError, AttributeError) as error:
        raise wrong(f"{who}: {error}; expected {expected}") from error
    if not callable(found):
        raise wrong(f"{who}: {found!r} is not a function or class; expected {expected}")
    return found


def _import_file(path: str) -> types.ModuleType:
    """Import a Python file; register it in ``sys.modules`` by its absolute and its given path."""
    whole = os.path.abspath(path)
    if whole not in sys.modules:
        if not os.path.isfile(path):
            if path in sys.modules:  # the code changed the working directory
                return sys.modules[path]
            raise ImportError(f"there is no file {path!r}")
        spec = importlib.util.spec_from_file_location(whole, whole)
        assert spec is not None  # since the name ends with .py
        assert spec.loader is not None
        sys.modules[whole] = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(sys.modules[whole])
        except BaseException:
            del sys.modules[whole]
            raise
    sys.modules[path] = sys.modules[whole]
    return sys.modules[whole]


def file_hint(name: str, meant: str) -> str:
    """Return ``; did you mean {meant!r}?`` if there is a file ``name``, else an empty text."""
    return f"; did you mean {meant!r}?" if os.path.isfile(name) else ""


def meant(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return ``; did you mean 'greedy'?`` if a known name is similar, else ``otherwise``."""
    close = difflib.get_close_matches(name, sorted(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else otherwise


def in_a_line(error: BaseException) -> str:
    """Describe an error in a user's code in one line: type, message, file and line number."""
    said = " ".join(str(error).split())
    frame = traceback.extract_tb(error.__traceback__)[-1]
    where = ""
    # A SyntaxError's message has file and line; a missing module has neither.
    if not isinstance(error, SyntaxError) and "importlib" not in frame.filename:
        where = f" ({os.path.basename(frame.filename)}, line {frame.lineno})"
    return f"{type(error).__name__}: {said[:300]}{where}"
