"""The files of this package's modules, found without importing the modules."""

from __future__ import annotations

import functools
from importlib.util import find_spec
from pathlib import Path
from typing import Final

ROOT: Final = "c4env"


@functools.cache
def modules() -> dict[str, Path]:
    """Return the source file of each module of this package, by import name."""
    found = {}
    for package in (ROOT, f"{ROOT}.agents", f"{ROOT}.evaluation"):
        spec = find_spec(package)
        for folder in map(Path, (spec and spec.submodule_search_locations) or ()):
            for path in sorted(folder.rglob("*.py")):
                inner = path.relative_to(folder).with_suffix("").parts
                parts = inner[:-1] if inner[-1] == "__init__" else inner
                found[".".join((package, *parts))] = path
    return found
