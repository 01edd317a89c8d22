"""The sources of our modules, read as text: where they are, and what they import.

The machine code of kernels is kept by them (:mod:`c4env.jit`), and boards of other sizes are
loaded from them (:mod:`c4env.boards`). Nothing is imported to find out.
"""

from __future__ import annotations

import functools
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Final

ROOT: Final = "c4env"

# ``from c4env.x import a, b``, also over several lines in parentheses, and ``import c4env.x``.
_IMPORT: Final = re.compile(
    rb"^(\s*)(?:from|import) (c4env[\w.]*)(?: import (\([^)]*\)|.*))?", re.MULTILINE
)


@functools.cache
def modules() -> dict[str, Path]:
    """Every module of ours by its import name, and its file."""
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
    """What a source imports of ours: modules, and names that may be modules.

    Args:
        text: the source.
        everywhere: within functions and for type checkers too, not at the top level alone.
    """
    found = []
    for indent, module, names in _IMPORT.findall(text):
        if everywhere or not indent:
            name = module.decode()
            found += [name, *(f"{name}.{each}" for each in re.findall(r"\w+", names.decode()))]
    return found
