"""Things a user names by import path: agents and heuristics of their own."""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from typing import Any, Final

taken_from_main: Final[dict[str, Any]] = {}
"""What was named in ``__main__``, by its path: a script or a session, which another process
cannot import."""


def import_attribute(path: str) -> Any:
    """What ``package.module:attribute`` names; modules of the current directory count too.

    The directory is on the import path only meanwhile, and last: a folder there called
    ``agents`` must not come before ours, in this process or in a worker.

    Raises:
        ImportError, AttributeError: there is nothing of that name, or its module raises.
    """
    module_name, _, attribute = path.partition(":")
    folder = os.getcwd()
    added = folder not in sys.path and "" not in sys.path
    if added:
        sys.path.append(folder)
    try:
        module = importlib.import_module(module_name)
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


def in_a_line(error: BaseException) -> str:
    """What a user's code raised, and where if that is known: type, message, file and line."""
    said = " ".join(str(error).split())
    frame = traceback.extract_tb(error.__traceback__)[-1]
    where = ""
    # A SyntaxError tells them itself; and with no module there is no line.
    if not isinstance(error, SyntaxError) and "importlib" not in frame.filename:
        where = f" ({os.path.basename(frame.filename)}, line {frame.lineno})"
    return f"{type(error).__name__}: {said[:300]}{where}"
