"""Results as raw values in named columns, printed as text, Markdown, CSV or JSON.

A :class:`Column` has a name, a format and a function that gets its value; all four formats are made
from the same columns, so a new statistic is one new column. CSV and JSON hold the raw values. A
value with fields, such as an interval, is one cell for people and a column for each field in CSV
and JSON.

Cells and messages may contain text from agents: names, reasons, exceptions. :func:`printable`
makes such text safe for a terminal.
"""

from __future__ import annotations

import abc
import csv
import io
import json
import math
import operator
import re
import textwrap
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

FORMATS: Final = ("text", "markdown", "csv", "json")

LABEL: Final = 24
"""The greatest width of a label, in characters."""
CUT: Final = "Two dots shorten a text: NAME=SPEC gives an agent a short name."
_NARROWEST: Final = 12  # the least width of a label

_COLOUR: Final = re.compile(r"(\x1b\[\d+m)")
_INTERVAL: Final = ("value", "low", "high")


class Column(NamedTuple):
    """A column of a table.

    Attributes:
        name: the heading, and the key in CSV and JSON.
        form: how text and Markdown show a value: a format such as ``.1%`` for numbers, or a
            function.
        of: a function that gets the value from an item; None reads the attribute or key ``name``.
    """

    name: str
    form: str | Callable[[Any], str] = ""
    of: Callable[[Any], Any] | None = None

    def value(self, item: Any) -> Any:
        """Get the raw value of an item: a text, a number, None, or a named tuple of these.

        nan, which JSON does not have, becomes None.
        """
        if self.of is not None:
            found = self.of(item)
        else:
            found = item[self.name] if isinstance(item, Mapping) else getattr(item, self.name)
        if hasattr(found, "_fields"):
            return found._make(map(_told, found))
        return _told(found)

    def shown(self, value: Any) -> str:
        """Format a value for people; an interval is shown as ``value (low .. high)``."""
        if value is None:
            return ""
        if isinstance(value, bool):
            return "yes" if value else "no"
        if getattr(value, "_fields", ()) == _INTERVAL:
            middle, *ends = map(self.shown, value)
            between = " .. ".join(end.removesuffix("%") for end in ends)
            return f"{middle} ({between})" if all(ends) else middle or "-"
        if callable(self.form):
            return printable(self.form(value))
        if isinstance(value, str | tuple):
            return printable(str(value))
        return rounded(value, self.form)


class Result(abc.ABC):
    """A result that can be printed in each format of the option ``--format``.

    A subclass defines ``tables``, and may define ``sentence``, ``summary`` and ``facts``.
    """

    @abc.abstractmethod
    def tables(self) -> Mapping[str, Table]:
        """The tables by name; the first is the main table, which CSV holds."""

    def sentence(self) -> str:
        """The result in a sentence, which is printed above the tables."""
        return ""

    def summary(self) -> str:
        """Notes, one per line, which are printed below the tables."""
        return ""

    def facts(self) -> dict[str, Any]:
        """Plain Python objects that only JSON holds."""
        return {}

    def text(self, columns: int | None = None) -> str:
        """The result as text; ``columns``, if given, is the width of the terminal."""
        laid_out = [table.layout(columns) for table in self.tables().values()]
        notes = [self.summary(), CUT if any(cut for _, cut in laid_out) else ""]
        above, below = self.sentence(), "\n".join(filter(None, notes))
        parts = [fitted(above, columns), *(text for text, _ in laid_out), fitted(below, columns)]
        return "\n\n".join(filter(None, parts))

    def markdown(self) -> str:
        """The result as Markdown, which a notebook shows; each note is a paragraph."""
        tables = [table.as_markdown() for table in self.tables().values()]
        lines = [self.sentence(), *tables, *self.summary().split("\n")]
        return "\n\n".join(filter(None, lines))

    def csv(self) -> str:
        """The main table as CSV, without a final newline; None is an empty cell."""
        (heading, *rows), buffer = next(iter(self.tables().values())).raw(), io.StringIO()
        csv.writer(buffer, lineterminator="\n").writerows([heading, *rows])
        return buffer.getvalue().removesuffix("\n")

    def json(self) -> str:
        """The whole result as JSON; each row is an object keyed by the columns' names."""
        found = {"sentence": self.sentence(), **self.facts()}
        for name, table in self.tables().items():
            heading, *rows = table.raw()
            found[name] = [dict(zip(heading, row, strict=True)) for row in rows]
        return json.dumps({**found, "notes": self.summary().splitlines()}, indent=2)

    def __str__(self) -> str:
        return for_terminal(self.text(), colour=False)

    def _repr_markdown_(self) -> str:
        return self.markdown()


@dataclass(frozen=True)
class Table(Result):
    """A table, with a title and notes.

    Attributes:
        columns: the columns; texts are aligned left, everything else right.
        items: an object for each row, from which the columns get their values.
        title: a line above the table.
        notes: lines below the table.
    """

    columns: Sequence[Column]
    items: Sequence[Any]
    title: str = ""
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        columns: Mapping[str, str | Callable[[Any], str]],
        rows: Iterable[Sequence[Any]],
        title: str = "",
        notes: tuple[str, ...] = (),
    ) -> Table:
        """Make a table of rows of raw values; ``columns`` maps each name to its format."""
        made = [
            Column(name, form, operator.itemgetter(i))
            for i, (name, form) in enumerate(columns.items())
        ]
        return cls(made, [*rows], title, notes)

    def tables(self) -> dict[str, Table]:
        """The table itself, by the name ``rows``."""
        return {"rows": self}

    def sentence(self) -> str:
        """The title."""
        return self.title

    def summary(self) -> str:
        """The notes."""
        return "\n".join(self.notes)

    def raw(self) -> list[list[Any]]:
        """A heading and the raw values; a value with fields is a cell for each field."""
        by_column = []
        for column in self.columns:
            values = [column.value(item) for item in self.items]
            fields = next((v._fields for v in values if hasattr(v, "_fields")), None)
            if fields is None:
                by_column.append([column.name, *values])
                continue
            names = [f"{column.name}_{field}".removesuffix("_value") for field in fields]
            parts = zip(*(v or (None,) * len(fields) for v in values), strict=True)
            by_column += [[name, *some] for name, some in zip(names, parts, strict=True)]
        return [list(row) for row in zip(*by_column, strict=True)]

    def layout(self, columns: int | None = None) -> tuple[str, bool]:
        """Align the columns; return the text, and whether it shortens any cell.

        If the table is wider than ``columns``, long texts lose their middle. Columns that still do
        not fit follow below, after the first text of each row.
        """
        if not self.items:
            return "", False
        parts = [self._cells(column) for column in self.columns]
        words = [any(isinstance(c.value(i), str) for i in self.items) for c in self.columns]
        room = columns or math.inf
        whole = parts
        for most in range(LABEL, _NARROWEST - 1, -1):
            if _width(parts) <= room:
                break
            parts = [
                _labelled(part, most) if text else part
                for part, text in zip(whole, words, strict=True)
            ]
        names = words.index(True) + 1 if True in words else 0
        blocks = [[*range(names)]]
        for i in range(names, len(parts)):
            if len(blocks[-1]) > 1 and _width([parts[k] for k in (*blocks[-1], i)]) > room:
                blocks.append([*range(max(names - 1, 0), names)])
            blocks[-1].append(i)
        laid_out = (_aligned([parts[i] for i in b], [words[i] for i in b]) for b in blocks)
        return "\n\n".join(laid_out), parts != whole

    def as_markdown(self) -> str:
        """The table alone as Markdown."""
        if not self.items:
            return ""
        parts = [self._cells(column) for column in self.columns]
        for part, column in zip(parts, self.columns, strict=True):
            text = any(isinstance(column.value(item), str) for item in self.items)
            part[:] = [cell.replace("\\", "\\\\").replace("|", "\\|") for cell in part]
            part.insert(1, "---" if text else "---:")
        return "\n".join("| " + " | ".join(row) + " |" for row in zip(*parts, strict=True))

    def _cells(self, column: Column) -> list[str]:
        return [column.name, *(column.shown(column.value(item)) for item in self.items)]


def labels(names: Iterable[str], columns: int = LABEL) -> dict[str, str]:
    """Return a distinct label for each name, at most ``columns`` characters wide.

    A name that fits is its own label. A longer name loses its middle, which two dots mark. If
    another name has the label already, a number is added. ``NAME=SPEC`` gives an agent a name that
    fits.
    """
    found = {name: name for name in dict.fromkeys(names)}
    taken = {name for name in found if width(name) <= columns}
    for name in [name for name in found if name not in taken]:
        short, number = _without_middle(name, columns), 1
        while short in taken:
            number += 1
            short = _without_middle(name, columns - len(f"~{number}")) + f"~{number}"
        taken.add(short)
        found[name] = short
    return found


def fitted(text: str, columns: int | None) -> str:
    """Wrap lines of prose to ``columns`` characters; lines of tables stay as they are."""
    if columns is None:
        return text
    return "\n".join(
        line if "  " in line else textwrap.fill(line, columns, break_on_hyphens=False)
        for line in text.split("\n")
    )


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


def for_terminal(text: str, colour: bool) -> str:
    """Make lines of text safe to print; keep the colours of boards, or remove them."""
    parts = _COLOUR.split(text)
    parts[::2] = [printable(part, keep="\n\t") for part in parts[::2]]
    return "".join(parts if colour else parts[::2])


def width(text: str) -> int:
    """The width of a line on a terminal, in columns."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF")
        for c in text
    )


def shortened(value: object, columns: int) -> str:
    """A value as text of at most ``columns`` characters; three dots mark a cut."""
    whole = str(value)
    text = whole[: columns + 1]
    if text == whole and width(text) <= columns:
        return text
    while text and width(text) > columns - 3:
        text = text[:-1]
    return text + "..."


def rounded(value: float, form: str) -> str:
    """Format a number; halves round away from zero, as on the web pages, and -0 is 0."""
    if not form or not isinstance(value, float):
        return format(value, form)
    sign = "+" * form.startswith("+")
    return format(value * (1 + 1e-12), f"{sign}z{form.removeprefix('+')}")


def plural(count: int, noun: str) -> str:
    """A number and its noun: ``1 game``, ``2 games``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def signed(number: float) -> str:
    """A number, rounded to a whole number, with its sign; 0 has no sign."""
    text = rounded(number, "+.0f")
    return "0" if text == "+0" else text


def _told(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


def _width(parts: Sequence[Sequence[str]]) -> int:
    return sum(max(map(width, part)) + 2 for part in parts) - 2


def _labelled(part: Sequence[str], columns: int) -> list[str]:
    heading, *cells = part
    short = labels(cells, columns)
    return [heading, *(short[cell] for cell in cells)]


def _aligned(parts: Sequence[Sequence[str]], left: Sequence[bool]) -> str:
    wide = [max(map(width, part)) for part in parts]

    def line(row: Sequence[str]) -> Iterator[str]:
        for cell, room, to_left in zip(row, wide, left, strict=True):
            space = " " * (room - width(cell))
            yield cell + space if to_left else space + cell

    return "\n".join("  ".join(line(row)).rstrip() for row in zip(*parts, strict=True))


def _without_middle(text: str, columns: int) -> str:
    head, tail = text[: len(text) // 2], text[len(text) // 2 :]
    while width(head) + width(tail) + 2 > columns and head + tail:
        head, tail = (head[:-1], tail) if width(head) >= width(tail) else (head, tail[1:])
    return f"{head}..{tail}"


def _is_control(character: str) -> bool:
    """Whether a character is a control, lone surrogate, line separator or direction mark."""
    return unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") or character in _TURNING


_TURNING: Final = "\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
