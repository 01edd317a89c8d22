"""Styles and scripts that the page of a run shares with the page of ``c4 web``."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Final

STATIC: Final = files(__name__)
"""The folder of the styles and scripts."""


def inlined(template: str) -> str:
    """Replace a page's references to styles and scripts with the content of the files."""

    def content(found: re.Match[str]) -> str:
        tag = "style" if found[1].endswith(".css") else "script"
        return f"<{tag}>\n{STATIC.joinpath(found[1]).read_text('utf-8')}</{tag}>"

    named = r'<(?:link rel="stylesheet" href|script src)="static/([\w.]+)">(?:</script>)?'
    return re.sub(named, content, template)
