"""Python files of users, loaded by their path."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

from agents.errors import InvalidValue
from agents.zoo.imports import in_a_line


def attribute_of_file(path: str, agent: str) -> Any:
    """What ``FILE.py:NAME`` names. The file's folder is on the import path from then on, last.

    Args:
        path: a file and a name in it.
        agent: who asks, for the errors.

    Raises:
        InvalidValue: no such file or name, or the file raises.
    """
    file, _, name = path.rpartition(":")
    if not name.isidentifier() or not Path(file).is_file():
        raise InvalidValue(f"{agent}: {path!r}: expected FILE.py:NAME")
    full = Path(file).resolve()
    module_name = f"_c4env_file_{full.stem}_{abs(hash(str(full))):x}"
    module = sys.modules.get(module_name)
    if module is None:
        spec = importlib.util.spec_from_file_location(module_name, full)
        if spec is None or spec.loader is None:
            raise InvalidValue(f"{agent}: {path!r}: expected a Python file")
        module = importlib.util.module_from_spec(spec)
        sys.modules[module_name] = module  # what dataclasses and pickle look up
        if str(full.parent) not in sys.path:
            sys.path.append(str(full.parent))
        try:
            spec.loader.exec_module(module)
        except (Exception, SystemExit) as error:
            del sys.modules[module_name]
            said = in_a_line(error)
            raise InvalidValue(f"{agent}: {path!r} cannot be loaded: {said}") from error
    try:
        return getattr(module, name)
    except AttributeError:
        raise InvalidValue(f"{agent}: {path!r}: the file defines no {name!r}") from None
