"""What the pages of the reference ask Sphinx to describe."""

import importlib
import re
from typing import Any

from tests.helpers.paths import ROOT

ENTRY = re.compile(r"^\.\. auto\w+:: ([\w.]+)$", re.M)


def entries() -> list[str]:
    """The dotted name of each entry."""
    pages = sorted((ROOT / "docs" / "reference").glob("*.md"))
    return [name for page in pages for name in ENTRY.findall(page.read_text(encoding="utf-8"))]


def imported(name: str) -> Any:
    """What a dotted name stands for, as a user imports it."""
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)
