"""Things a user names by import path: agents and heuristics of their own."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any, Final

taken_from_main: Final[dict[str, Any]] = {}
"""What was named in ``__main__``, by its path: a script or a session, which another process
cannot import."""


def import_attribute(path: str) -> Any:
    """What ``package.module:attribute`` names; modules of the current directory count too.

    The directory is on the import path only meanwhile, and last: a folder there called
    ``agents`` must not come before ours, in this process or in a worker.

    Raises:
        ImportError, AttributeError, ValueError: there is nothing of that name.
    """
    module_name, _, attribute = path.partition(":")
    folder = os.getcwd()
    added = folder not in sys.path and "" not in sys.path
    if added:
        sys.path.append(folder)
    try:
        found = getattr(importlib.import_module(module_name), attribute)
    except TypeError as error:  # a relative name
        raise ImportError(str(error)) from None
    finally:
        if added:
            sys.path.remove(folder)
    if module_name == "__main__":
        taken_from_main[path] = found
    return found
