"""Rows laid out as text, Markdown, CSV or JSON; the first row is the heading.

What stands in a cell or a message may be anybody's: a name, a reason, what an exception says.
:func:`printable` is the one place that makes it harmless to a terminal.
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

# A style is a noncharacter, which Unicode keeps for use inside a program: it takes no room,
# and whoever prints turns it into the terminal's code, or into nothing.
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
    """A cell whose value, for programs, is not the text that people read."""

    value: Any
    text: str

    def __str__(self) -> str:
        return self.text


class Result(Protocol):
    """What was found, in each form of ``--format``."""

    @abc.abstractmethod
    def text(self, columns: int | None = None) -> str:
        """For a terminal, of so many columns if that matters."""

    @abc.abstractmethod
    def markdown(self) -> str:
        """As Markdown, which a notebook shows."""

    @abc.abstractmethod
    def csv(self) -> str:
        """Its main table."""

    @abc.abstractmethod
    def json(self) -> str:
        """Everything, for programs."""

    def __str__(self) -> str:
        return self.text()

    def _repr_markdown_(self) -> str:
        return self.markdown()


@dataclass(frozen=True)
class Table(Result):
    """Rows in every form, with what there is to say above and below them.

    Attributes:
        rows: none, or the heading first; a cell is a text, a number, None, or :class:`Shown`.
        title: a line above.
        notes: lines below.
        left: the columns aligned left; the others are aligned right.
    """

    rows: Rows
    title: str = ""
    notes: tuple[str, ...] = ()
    left: Collection[int] = (0,)

    def text(self, columns: int | None = None) -> str:
        """For a terminal, of so many columns if that matters."""
        words = (fitted(text, columns) for text in (self.title, "\n".join(self.notes)))
        parts = [next(words), as_text(self.rows, self.left, columns), next(words)]
        return "\n".join(part for part in parts if part)

    def markdown(self) -> str:
        """As Markdown."""
        parts = [self.title, as_markdown(self.rows, self.left), *self.notes]
        return "\n\n".join(part for part in parts if part)

    def csv(self) -> str:
        """The rows alone."""
        return as_csv(self.rows)

    def json(self) -> str:
        """One object a row, by the heading, beside the title and the notes."""
        cells = [[_value(cell) for cell in row] for row in self.rows]
        found = [dict(zip(cells[0], row, strict=True)) for row in cells[1:]]
        return json.dumps({"title": self.title, "rows": found, "notes": self.notes}, indent=2)


class Tables(Result, abc.ABC):
    """A result of some tables and words.

    A subclass says what there is to lay out; tables have their heading first.
    """

    left: ClassVar[Collection[int]] = (0,)  # columns aligned left

    @abc.abstractmethod
    def tables(self) -> Sequence[Rows]:
        """For people."""

    @abc.abstractmethod
    def summary(self) -> str:
        """The words below them."""

    @abc.abstractmethod
    def records(self) -> Rows:
        """For programs, the numbers as measured."""

    @abc.abstractmethod
    def as_dict(self) -> dict[str, Any]:
        """For programs, everything."""

    def text(self, columns: int | None = None) -> str:
        """For a terminal, of so many columns if that matters."""
        tables = [as_text(rows, self.left, columns) for rows in self.tables()]
        return "\n\n".join(filter(None, [*tables, fitted(self.summary(), columns)]))

    def markdown(self) -> str:
        """The same in Markdown; each line of words is a paragraph."""
        tables = [as_markdown(rows, self.left) for rows in self.tables()]
        return "\n\n".join(filter(None, [*tables, *self.summary().split("\n")]))

    def csv(self) -> str:
        """The records alone."""
        return as_csv(self.records())

    def json(self) -> str:
        """Everything, for programs."""
        return json.dumps(self.as_dict(), indent=2)


def as_text(rows: Rows, left: Collection[int] = (0,), columns: int | None = None) -> str:
    """Aligned columns: those of ``left`` to the left, the others to the right.

    Where the terminal has fewer ``columns``, long cells on the left go on in the next line, and
    what is still too wide stands below, the names of the rows again in front.
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
    """Lines of words, those too long for the terminal broken; tables stay as they are."""
    if columns is None:
        return text
    return "\n".join(
        line if "  " in line else textwrap.fill(line, columns, break_on_hyphens=False)
        for line in text.split("\n")
    )


def as_lines(heading: Sequence[str], rows: Iterable[Sequence[Any]], first: int) -> Iterator[str]:
    """Lines of a table, each as soon as there is its row.

    The first column is ``first`` characters wide, the others as the heading, at least 7.
    """
    widths = [first, *(max(7, len(name)) for name in heading[1:])]
    yield _line(heading, widths, (0,))
    for row in rows:
        yield _line([_cell(cell) for cell in row], widths, (0,))


def as_markdown(rows: Rows, left: Collection[int] = (0,)) -> str:
    """A Markdown table."""
    if not rows:
        return ""
    cells = [
        [_cell(cell).replace("\\", "\\\\").replace("|", "\\|") for cell in row] for row in rows
    ]
    ruler = ["---" if i in left else "---:" for i in range(len(rows[0]))]
    return "\n".join("| " + " | ".join(row) + " |" for row in [cells[0], ruler, *cells[1:]])


def as_csv(rows: Rows) -> str:
    """Comma-separated lines, the last one unended as in the other forms; None is an empty cell.

    A text that a spreadsheet would calculate, as one that begins with ``=``, begins with ``'``.
    """
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows([map(_inert, row) for row in rows])
    return buffer.getvalue().removesuffix("\n")


def with_heading(records: Sequence[Mapping[str, Any]]) -> Rows:
    """Rows of records, at least one, that all have the same keys, which make the heading."""
    return [list(records[0]), *(list(record.values()) for record in records)]


def number(value: float | None, form: str) -> Shown | None:
    """A cell with a number, for people in a form such as ``.1f``."""
    return None if value is None else Shown(value, rounded(value, form))


def rounded(value: float, form: str) -> str:
    """A number as ``format`` writes it, but halves are rounded away from zero, as on the pages.

    Args:
        value: what to write.
        form: such as ``.1f``, ``+.0f`` or ``.1%``; others are left to ``format``.
    """
    asked = re.fullmatch(r"[+,]*\.(\d+)([f%])", form)
    if asked is None or not math.isfinite(value):
        return format(value, form)
    scale = 10 ** (int(asked[1]) + 2 * (asked[2] == "%"))
    whole = math.floor(abs(value) * scale + 0.5 + 1e-9)  # 14.499999999999998 is 100 times 0.145
    return format(math.copysign(whole, value if whole else 1) / scale, form)


def printable(text: str, keep: str = "") -> str:
    """A text without characters that move a terminal's cursor, or do worse: ``\\x1b`` for ESC.

    Args:
        text: anybody's.
        keep: control characters that stay.
    """
    if text.isprintable():
        return text
    return "".join(
        c.encode("unicode_escape").decode() if c not in keep and _is_control(c) else c for c in text
    )


def styled(text: str, style: str) -> str:
    """A text in one of :data:`STYLES`, where what prints it can show that."""
    return f"{STYLES[style][0]}{text}{RESET}"


def restyled(text: str) -> str:
    """A text with a terminal's codes, as this project writes them, with styles instead."""
    for style, code in _CODES.items():
        text = text.replace(code, style)
    return text


def for_terminal(text: str, colour: bool) -> str:
    """A printed text, several lines of it: harmless, and with styles or without."""
    return printable(text, keep="\n\t").translate(_TO_TERMINAL if colour else _PLAIN)


def width(text: str) -> int:
    """Columns of a terminal that a line takes."""
    if text.isascii():
        return len(text)
    return sum(
        0
        if c in _CODES or unicodedata.combining(c)
        else 1 + (unicodedata.east_asian_width(c) in "WF")
        for c in text
    )


def shortened(value: object, columns: int) -> str:
    """A value as text of at most so many columns: its beginning, and three dots if it is longer."""
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
    """``1 game``, ``2 games``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def signed(number: float) -> str:
    """A whole number with its sign; 0 has none."""
    text = rounded(number, "+.0f")
    return "0" if text == "+0" else text


def _line(cells: Sequence[str], widths: Sequence[int], left: Collection[int]) -> str:
    parts = []
    for i, (text, wide) in enumerate(zip(cells, widths, strict=True)):
        space = " " * (wide - width(text))  # none where a row as measured is wider
        parts.append(text + space if i in left else space + text)
    return "  ".join(parts).rstrip()


def _pieces(text: str, room: int) -> list[str]:
    """A text in lines, broken after a comma, a colon, a slash or a blank where there is one."""
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


_FORMULA: Final = re.compile(r"[=@\t\r]|[+-](?![\d.]|inf|nan|$)")  # -12 and - are none


def _is_control(character: str) -> bool:
    """Control characters, lone surrogates, line separators, and those that turn the direction."""
    return unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") or character in _TURNING


_TURNING: Final = "\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
