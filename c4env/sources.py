"""The files and imports of this package's modules, found without importing the modules.

:mod:`c4env.jit` hashes the files to name its cache; :mod:`c4env.boards` loads them for each size.
"""

from __future__ import annotations

import functools
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Final

ROOT: Final = "c4env"

# Matches ``import c4env.x`` and ``from c4env.x import a, b``, with or without parentheses.
_IMPORT: Final = re.compile(
    rb"^([ \t]*)(?:from|import) (c4env[\w.]*)(?: import (\([^)]*\)|.*))?", re.MULTILINE
)


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


def imports_of(text: bytes, *, everywhere: bool) -> list[str]:
    """Return the ``c4env`` modules that a source imports, and ``module.name`` for imported names.

    Args:
        text: the source.
        everywhere: include indented imports, as in functions or under ``if TYPE_CHECKING``.
    """
    found = []
    for indent, module, names in _IMPORT.findall(text):
        if everywhere or not indent:
            name = module.decode()
            found += [name, *(f"{name}.{each}" for each in re.findall(r"\w+", names.decode()))]
    return found
