"""Things a user names by import path: agents and heuristics of their own."""

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

taken_from_main: Final[dict[str, Any]] = {}
"""What was named in ``__main__``, by its path: a script or a session, which another process
cannot import."""


def import_attribute(path: str) -> Any:
    """What ``package.module:attribute`` or ``FILE.py:attribute`` names.

    Modules of the current directory count too, and for a file those beside it. The directory is
    on the import path only meanwhile, and last: a folder there called ``agents`` must not
    come before ours, in this process or in a worker.

    Raises:
        ImportError, AttributeError: there is nothing of that name, or its module raises.
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
    except (Exception, SystemExit) as error:  # whatever the user's code may raise
        raise ImportError(f"importing {module_name!r} raised {in_a_line(error)}") from error
    finally:
        if added:
            sys.path.remove(folder)
    found = getattr(module, attribute)
    if module_name == "__main__":
        taken_from_main[path] = found
    return found


def import_callable(path: str, wrong: type[C4Error], who: str, expected: str) -> Any:
    """A class or function that an import path names (:func:`import_attribute`).

    Args:
        path: the path.
        wrong: the error that is raised.
        who: what its message begins with.
        expected: what it ends with.
    """
    try:
        found = import_attribute(path)
    except WrongBoard:
        raise
    except (ImportError, AttributeError) as error:
        raise wrong(f"{who}: {error}; expected {expected}") from error
    if not callable(found):
        raise wrong(f"{who}: {found!r} is no function or class; expected {expected}")
    return found


def _import_file(path: str) -> types.ModuleType:
    """The module of a Python file, known to ``sys.modules`` by its path, also as it was given."""
    whole = os.path.abspath(path)
    if whole not in sys.modules:
        if not os.path.isfile(path):
            if path in sys.modules:  # its code went to another folder
                return sys.modules[path]
            raise ImportError(f"there is no file {path!r}")
        spec = importlib.util.spec_from_file_location(whole, whole)
        assert spec is not None  # of a name that ends with .py
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
    """``; did you mean 'exec:./eng'?`` where the current directory has a file of that name."""
    return f"; did you mean {meant!r}?" if os.path.isfile(name) else ""


def meant(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """``; did you mean 'greedy'?`` where a known name is much like this one."""
    close = difflib.get_close_matches(name, sorted(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else otherwise


def in_a_line(error: BaseException) -> str:
    """What a user's code raised, and where if that is known: type, message, file and line."""
    said = " ".join(str(error).split())
    frame = traceback.extract_tb(error.__traceback__)[-1]
    where = ""
    # A SyntaxError tells them itself; and with no module there is no line.
    if not isinstance(error, SyntaxError) and "importlib" not in frame.filename:
        where = f" ({os.path.basename(frame.filename)}, line {frame.lineno})"
    return f"{type(error).__name__}: {said[:300]}{where}"
