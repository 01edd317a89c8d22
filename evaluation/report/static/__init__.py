"""The styles and scripts that the page of a run and that of ``c4 web`` share."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Final

STATIC: Final = files(__name__)
"""Where they are."""


def inlined(template: str) -> str:
    """A page with the styles and scripts in it that it names."""

    def content(found: re.Match[str]) -> str:
        tag = "style" if found[1].endswith(".css") else "script"
        return f"<{tag}>\n{STATIC.joinpath(found[1]).read_text('utf-8')}</{tag}>"

    named = r'<(?:link rel="stylesheet" href|script src)="static/([\w.]+)">(?:</script>)?'
    return re.sub(named, content, template)
