"""Tables as text, Markdown, CSV or JSON; the first row is the heading.

Cells and messages may contain text from agents: names, reasons, exceptions. :func:`printable`
makes such text safe for a terminal.
"""

from __future__ import annotations

import abc
import csv
import io
import itertools
import json
import math
import re
import textwrap
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, NamedTuple, Protocol

FORMATS: Final = ("text", "markdown", "csv", "json")

Rows = Sequence[Sequence[Any]]

# A style is a noncharacter, which Unicode reserves for use inside a program. A style has no width;
# printing replaces it by the terminal's code or removes it.
RESET: Final = "\ufdd0"
STYLES: Final = {
    "bold": ("\ufdd1", "\x1b[1m"),
    "dim": ("\ufdd2", "\x1b[2m"),
    "good": ("\ufdd3", "\x1b[32m"),
    "bad": ("\ufdd4", "\x1b[31m"),
    "first": ("\ufdd5", "\x1b[91m"),  # discs of the first player
    "second": ("\ufdd6", "\x1b[93m"),
}
_CODES: Final = {RESET: "\x1b[0m", **dict(STYLES.values())}
_TO_TERMINAL: Final = str.maketrans(_CODES)
_PLAIN: Final = str.maketrans(dict.fromkeys(_CODES, ""))


class Shown(NamedTuple):
    """A cell with a text for people and a value for programs."""

    value: Any
    text: str

    def __str__(self) -> str:
        return self.text


class Result(Protocol):
    """A result that can be printed in each format of the option ``--format``."""

    @abc.abstractmethod
    def text(self, columns: int | None = None) -> str:
        """The result as text; ``columns``, if given, is the width of the terminal."""

    @abc.abstractmethod
    def markdown(self) -> str:
        """The result as Markdown, which a notebook shows."""

    @abc.abstractmethod
    def csv(self) -> str:
        """Return the main table as CSV."""

    @abc.abstractmethod
    def json(self) -> str:
        """Return the whole result as JSON."""

    def __str__(self) -> str:
        return for_terminal(self.text(), colour=False)

    def _repr_markdown_(self) -> str:
        return self.markdown()


@dataclass(frozen=True)
class Table(Result):
    """One table, with a title and notes.

    Attributes:
        rows: empty, or the heading first; a cell is a text, a number, None, or :class:`Shown`.
        title: a line above the table.
        notes: lines below the table.
        left: indices of the columns aligned left; the others are aligned right.
    """

    rows: Rows
    title: str = ""
    notes: tuple[str, ...] = ()
    left: Collection[int] = (0,)

    def text(self, columns: int | None = None) -> str:
        """The result as text; ``columns``, if given, is the width of the terminal."""
        words = (fitted(text, columns) for text in (self.title, "\n".join(self.notes)))
        parts = [next(words), as_text(self.rows, self.left, columns), next(words)]
        return "\n".join(part for part in parts if part)

    def markdown(self) -> str:
        """The table as Markdown."""
        parts = [self.title, as_markdown(self.rows, self.left), *self.notes]
        return "\n\n".join(part for part in parts if part)

    def csv(self) -> str:
        """The rows as CSV, without title and notes."""
        return as_csv(self.rows)

    def json(self) -> str:
        """A JSON object with title, notes and rows; each row is an object keyed by the heading."""
        cells = [[_value(cell) for cell in row] for row in self.rows]
        found = [dict(zip(cells[0], row, strict=True)) for row in cells[1:]]
        return json.dumps({"title": self.title, "rows": found, "notes": self.notes}, indent=2)


class Tables(Result, abc.ABC):
    """A result with several tables and a summary in words.

    A subclass defines ``tables``, ``summary`` and ``records``.
    """

    left: ClassVar[Collection[int]] = (0,)  # columns aligned left

    @abc.abstractmethod
    def tables(self) -> Sequence[Rows]:
        """The tables for people; the first row of each is its heading."""

    @abc.abstractmethod
    def summary(self) -> str:
        """The summary in words, which is printed below the tables."""

    @abc.abstractmethod
    def records(self) -> Rows:
        """The main table for programs, with unrounded numbers."""

    @abc.abstractmethod
    def as_dict(self) -> dict[str, Any]:
        """The whole result as plain Python objects."""

    def text(self, columns: int | None = None) -> str:
        """The result as text; ``columns``, if given, is the width of the terminal."""
        tables = [as_text(rows, self.left, columns) for rows in self.tables()]
        return "\n\n".join(filter(None, [*tables, fitted(self.summary(), columns)]))

    def markdown(self) -> str:
        """The result as Markdown; each line of the summary is a paragraph."""
        tables = [as_markdown(rows, self.left) for rows in self.tables()]
        return "\n\n".join(filter(None, [*tables, *self.summary().split("\n")]))

    def csv(self) -> str:
        """The records as CSV."""
        return as_csv(self.records())

    def json(self) -> str:
        """The whole result as JSON."""
        return json.dumps(self.as_dict(), indent=2)


def as_text(rows: Rows, left: Collection[int] = (0,), columns: int | None = None) -> str:
    """Align the columns of rows: those in ``left`` to the left, all others to the right.

    If the table is wider than ``columns``, long cells in left-aligned columns wrap. Columns that
    still do not fit follow below, with the names of the rows repeated.
    """
    cells = [[_cell(cell) for cell in row] for row in rows]
    widths = [max(map(width, column)) for column in zip(*cells, strict=True)]
    if columns is None or sum(widths) + 2 * len(widths) - 2 <= columns:
        return "\n".join(_line(row, widths, left) for row in cells)
    widths = [min(wide, columns // 2) if i in left else wide for i, wide in enumerate(widths)]
    in_lines = (itertools.zip_longest(*map(_pieces, row, widths), fillvalue="") for row in cells)
    broken = [line for lines in in_lines for line in lines]
    names = range(min(left, default=0) + 1)
    blocks: list[list[int]] = [[]]
    for i in range(len(names), len(widths)):
        taken = sum(widths[k] + 2 for k in (*names, *blocks[-1]))
        if blocks[-1] and taken + widths[i] > columns:
            blocks.append([])
        blocks[-1].append(i)
    laid_out = []
    for block in ([*names, *others] for others in blocks):
        wide, to_left = [widths[i] for i in block], [k for k, i in enumerate(block) if i in left]
        lines = (_line([row[i] for i in block], wide, to_left) for row in broken)
        laid_out.append("\n".join(filter(None, lines)))
    return "\n\n".join(laid_out)


def fitted(text: str, columns: int | None) -> str:
    """Wrap lines of prose to ``columns`` characters; lines of tables stay as they are."""
    if columns is None:
        return text
    return "\n".join(
        line if "  " in line else textwrap.fill(line, columns, break_on_hyphens=False)
        for line in text.split("\n")
    )


def as_lines(heading: Sequence[str], rows: Iterable[Sequence[Any]], first: int) -> Iterator[str]:
    """Yield the lines of a table, each as soon as its row exists.

    The first column is ``first`` characters wide, the others as wide as their heading, at least 7.
    """
    widths = [first, *(max(7, len(name)) for name in heading[1:])]
    yield _line(heading, widths, (0,))
    for row in rows:
        yield _line([_cell(cell) for cell in row], widths, (0,))


def as_markdown(rows: Rows, left: Collection[int] = (0,)) -> str:
    """Rows as a Markdown table."""
    if not rows:
        return ""
    cells = [
        [_cell(cell).replace("\\", "\\\\").replace("|", "\\|") for cell in row] for row in rows
    ]
    ruler = ["---" if i in left else "---:" for i in range(len(rows[0]))]
    return "\n".join("| " + " | ".join(row) + " |" for row in [cells[0], ruler, *cells[1:]])


def as_csv(rows: Rows) -> str:
    """Rows as comma-separated lines, without a final newline; None is an empty cell.

    A text that a spreadsheet would run as a formula, such as ``=1+1``, gets a leading ``'``.
    """
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows([map(_inert, row) for row in rows])
    return buffer.getvalue().removesuffix("\n")


def with_heading(records: Sequence[Mapping[str, Any]]) -> Rows:
    """Records as rows; the first row, the heading, has the records' keys.

    Args:
        records: at least one; all have the same keys.
    """
    return [list(records[0]), *(list(record.values()) for record in records)]


def number(value: float | None, form: str) -> Shown | None:
    """Make a cell of a number; the cell's text is rounded by a format such as ``.1f``."""
    return None if value is None else Shown(value, rounded(value, form))


def rounded(value: float, form: str) -> str:
    """Format a number; halves round away from zero, as on the web pages.

    Args:
        value: the number.
        form: a format such as ``.1f``, ``+.0f`` or ``.1%``; Python's ``format`` handles others.
    """
    asked = re.fullmatch(r"[+,]*\.(\d+)([f%])", form)
    if asked is None or not math.isfinite(value):
        return format(value, form)
    scale = 10 ** (int(asked[1]) + 2 * (asked[2] == "%"))
    whole = math.floor(abs(value) * scale + 0.5 + 1e-9)  # 14.499999999999998 is 100 times 0.145
    return format(math.copysign(whole, value if whole else 1) / scale, form)


def printable(text: str, keep: str = "") -> str:
    """Escape the control characters of a text: ESC becomes ``\\x1b``.

    Args:
        text: any text.
        keep: control characters that stay.
    """
    if text.isprintable():
        return text
    return "".join(
        c.encode("unicode_escape").decode() if c not in keep and _is_control(c) else c for c in text
    )


def styled(text: str, style: str) -> str:
    """Mark a text with one of :data:`STYLES`."""
    return f"{STYLES[style][0]}{text}{RESET}"


def restyled(text: str) -> str:
    """Convert the terminal codes that :func:`for_terminal` writes back into :data:`STYLES`."""
    for style, code in _CODES.items():
        text = text.replace(code, style)
    return text


def for_terminal(text: str, colour: bool) -> str:
    """Make lines of text safe to print; turn styles into colours, or remove them."""
    return printable(text, keep="\n\t").translate(_TO_TERMINAL if colour else _PLAIN)


def width(text: str) -> int:
    """The width of a line on a terminal, in columns."""
    if text.isascii():
        return len(text)
    return sum(
        0
        if c in _CODES or unicodedata.combining(c)
        else 1 + (unicodedata.east_asian_width(c) in "WF")
        for c in text
    )


def shortened(value: object, columns: int) -> str:
    """A value as text of at most ``columns`` characters; three dots mark a cut."""
    text = str(value)
    if text.isascii():
        return text if len(text) <= columns else f"{text[: columns - 3]}..."
    text, whole = text[: columns + 1], text
    if text == whole and width(text) <= columns:
        return text
    while text and width(text) > columns - 3:
        text = text[:-1]
    return text + "..."


def plural(count: int, noun: str) -> str:
    """A number and its noun: ``1 game``, ``2 games``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def signed(number: float) -> str:
    """A number, rounded to a whole number, with its sign; 0 has no sign."""
    text = rounded(number, "+.0f")
    return "0" if text == "+0" else text


def _line(cells: Sequence[str], widths: Sequence[int], left: Collection[int]) -> str:
    parts = []
    for i, (text, wide) in enumerate(zip(cells, widths, strict=True)):
        space = " " * (wide - width(text))  # empty where the text is wider than its column
        parts.append(text + space if i in left else space + text)
    return "  ".join(parts).rstrip()


def _pieces(text: str, room: int) -> list[str]:
    """Break a text into lines, after a comma, colon, slash or space where possible."""
    lines = [""]
    for piece in re.findall(r"[^,:/ ]+[,:/ ]*|[,:/ ]+", text):
        if lines[-1] and width(lines[-1] + piece) > room:
            lines.append("")
        lines[-1] += piece
        while width(lines[-1]) > room:
            cut = next(n for n in range(len(lines[-1]), 0, -1) if width(lines[-1][:n]) <= room)
            lines[-1:] = [lines[-1][:cut], lines[-1][cut:]]
    return lines


def _cell(cell: Any) -> str:
    return "" if cell is None else printable(str(cell))


def _value(cell: Any) -> Any:
    return cell.value if isinstance(cell, Shown) else cell


def _inert(cell: Any) -> Any:
    value = _value(cell)
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value


_FORMULA: Final = re.compile(r"[=@\t\r]|[+-](?![\d.]|inf|nan|$)")  # -12 and - are no formulas


def _is_control(character: str) -> bool:
    """Whether a character is a control, lone surrogate, line separator or direction mark."""
    return unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") or character in _TURNING


_TURNING: Final = "\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
