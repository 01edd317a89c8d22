"""Rows of text laid out: for a terminal, as Markdown, as CSV. The first row is the heading."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

Rows = Sequence[Sequence[str]]


def as_text(rows: Rows) -> str:
    """Aligned columns: the first one left, the others right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            text.rjust(width) if i else text.ljust(width)
            for i, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def as_markdown(rows: Rows) -> str:
    """A Markdown table."""
    cells = [[text.replace("|", "\\|") for text in row] for row in rows]
    ruler = ["---:" if i else "---" for i in range(len(rows[0]))]
    return "\n".join("| " + " | ".join(row) + " |" for row in [cells[0], ruler, *cells[1:]])


def as_csv(rows: Sequence[Sequence[object]]) -> str:
    """Comma-separated lines, the last one unended as in the other forms; None is an empty cell."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(rows)
    return buffer.getvalue().removesuffix("\n")
