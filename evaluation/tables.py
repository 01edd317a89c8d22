"""Results as raw values in named columns: text, Markdown, CSV, JSON and pandas frames.

A :class:`Column` has a name, a format and a function that gets its value. Every form shows
the same columns, so a new statistic needs only one new column. CSV, JSON and frames have the raw
values. A value with fields, such as an interval, is one cell in text and Markdown, and one column
per field in the other forms. The page of a run reads the same JSON.

Cells and messages may contain text from agents, such as names, reasons and exceptions.
:func:`printable` makes the text safe for a terminal.
"""

from __future__ import annotations

import abc
import csv
import io
import json
import math
import operator
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from c4env.lazy import from_extra

FORMATS: Final = ("text", "markdown", "csv", "json")

_COLOUR: Final = re.compile(r"(\x1b\[\d+m)")
_DIRECTIONS: Final = "\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
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

        nan and infinities become None, because JSON has no numbers for them.
        """
        if self.of is not None:
            value = self.of(item)
        else:
            value = item[self.name] if isinstance(item, Mapping) else getattr(item, self.name)
        if hasattr(value, "_fields"):
            return value._make(map(_finite, value))
        return _finite(value)

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
        """The tables by name. The first table is the main table, the only one in CSV."""

    def sentence(self) -> str:
        """The result in a sentence, which is printed above the tables."""
        return ""

    def summary(self) -> str:
        """Notes, one per line, which are printed below the tables."""
        return ""

    def facts(self) -> dict[str, Any]:
        """Plain Python objects that only JSON shows."""
        return {}

    def content(self) -> dict[str, Any]:
        """The whole result as JSON values; each row is a dictionary keyed by the columns."""
        tables = {name: table.records() for name, table in self.tables().items()}
        return {
            "sentence": self.sentence(),
            **self.facts(),
            **tables,
            "notes": self.summary().splitlines(),
        }

    def text(self) -> str:
        """The result as text."""
        tables = [table.as_text() for table in self.tables().values()]
        return "\n\n".join(filter(None, [self.sentence(), *tables, self.summary()]))

    def markdown(self) -> str:
        """The result as Markdown, as a notebook shows it; each note is a paragraph."""
        tables = [table.as_markdown() for table in self.tables().values()]
        lines = [self.sentence(), *tables, *self.summary().split("\n")]
        return "\n\n".join(filter(None, lines))

    def csv(self) -> str:
        """The main table as CSV, without a final newline; None is an empty cell."""
        buffer = io.StringIO()
        csv.writer(buffer, lineterminator="\n").writerows(next(iter(self.tables().values())).raw())
        return buffer.getvalue().removesuffix("\n")

    def json(self) -> str:
        """The whole result as JSON."""
        return json.dumps(self.content(), indent=2)

    def frame(self) -> Any:
        """The main table as a ``pandas.DataFrame`` of raw values.

        Raises:
            MissingExtra: pandas is not installed.
        """
        with from_extra("pandas", "a frame needs pandas"):
            import pandas
        heading, *rows = next(iter(self.tables().values())).raw()
        return pandas.DataFrame(rows, columns=heading)

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
        matrix: a table that text and Markdown show instead of this table.
        lines: for a table of one item, the columns that text and Markdown show, in groups, one
            line per group.
    """

    columns: Sequence[Column]
    items: Sequence[Any]
    title: str = ""
    notes: tuple[str, ...] = ()
    matrix: Table | None = None
    lines: Sequence[Sequence[Column]] = ()

    @classmethod
    def of(
        cls,
        columns: Mapping[str, str | Callable[[Any], str]],
        rows: Iterable[Sequence[Any]],
        title: str = "",
        notes: tuple[str, ...] = (),
    ) -> Table:
        """Make a table of rows of raw values; ``columns`` maps each name to its format."""
        table_columns = [
            Column(name, form, operator.itemgetter(i))
            for i, (name, form) in enumerate(columns.items())
        ]
        return cls(table_columns, [*rows], title, notes)

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
        """A heading and the raw values; a value with fields has a cell for each field."""
        by_column = []
        for column in self.columns:
            values = [column.value(item) for item in self.items]
            fields = next((v._fields for v in values if hasattr(v, "_fields")), None)
            if fields is None:
                by_column.append([column.name, *values])
                continue
            names = [f"{column.name}_{field}".removesuffix("_value") for field in fields]
            parts = zip(*(v or (None,) * len(fields) for v in values), strict=True)
            by_column += [[name, *part] for name, part in zip(names, parts, strict=True)]
        return [list(row) for row in zip(*by_column, strict=True)]

    def records(self) -> list[dict[str, Any]]:
        """A dictionary of raw values for each row, with the headings of :meth:`raw`."""
        heading, *rows = self.raw()
        return [dict(zip(heading, row, strict=True)) for row in rows]

    def as_text(self) -> str:
        """Only the table, with aligned columns."""
        if self.matrix is not None:
            return self.matrix.as_text()
        if self.lines:
            return "\n".join(self._in_lines())
        if not self.items:
            return ""
        padded = []
        for cells, text in self._cells():
            room = max(map(width, cells))
            pad = str.ljust if text else str.rjust
            padded.append([pad(cell, room - width(cell) + len(cell)) for cell in cells])
        return "\n".join("  ".join(row).rstrip() for row in zip(*padded, strict=True))

    def as_markdown(self) -> str:
        """Only the table, as Markdown."""
        if self.matrix is not None:
            return self.matrix.as_markdown()
        if self.lines:
            return "\n".join(f"- {line}" for line in self._in_lines())
        if not self.items:
            return ""
        escaped = []
        for (heading, *cells), text in self._cells():
            cells = [heading, "---" if text else "---:", *cells]
            escaped.append([cell.replace("\\", "\\\\").replace("|", "\\|") for cell in cells])
        return "\n".join("| " + " | ".join(row) + " |" for row in zip(*escaped, strict=True))

    def _cells(self) -> Iterator[tuple[list[str], bool]]:
        """Yield the heading and cells of each column as shown, and whether the column has texts."""
        for column in self.columns:
            values = [column.value(item) for item in self.items]
            text = any(isinstance(value, str) for value in values)
            yield [column.name, *map(column.shown, values)], text

    def _in_lines(self) -> Iterator[str]:
        """Yield the lines of a table of one item, without empty values."""
        (item,) = self.items
        for line in self.lines:
            values = [(column, column.value(item)) for column in line]
            shown = [f"{c.name}: {c.shown(value)}" for c, value in values if value is not None]
            if shown:
                yield ", ".join(shown)


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
    parts[::2] = ["\n".join(printable(s, "\t") for s in part.split("\n")) for part in parts[::2]]
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
    """A value as text of at most ``columns`` characters; three dots show a cut."""
    whole = str(value)
    text = whole[: columns + 1]
    if text == whole and width(text) <= columns:
        return text
    while text and width(text) > columns - 3:
        text = text[:-1]
    return text + "..."


def rounded(value: float, form: str) -> str:
    """Format a number; halves round away from zero, as on the web pages, and -0 becomes 0."""
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


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _is_control(character: str) -> bool:
    """Whether a character is a control, lone surrogate, line separator or direction sign."""
    return unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") or character in _DIRECTIONS
