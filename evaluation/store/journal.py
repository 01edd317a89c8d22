"""Read and append to files of JSON lines, which store games, scores and answers.

The first line is a header with the format of the file, and with the options that determine the
content. Files of games have no header. If a killed process leaves an incomplete last line, the next
process that opens the file for appending removes this line.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Generic, NamedTuple, TypeVar

from c4env.errors import UnreadableRun, Unwritable
from c4env.evaluation.tables import shortened
from c4env.files import lock_file

T = TypeVar("T")
K = TypeVar("K", bound=tuple[Any, ...])
V = TypeVar("V")


class Format(NamedTuple, Generic[T]):
    """The format of the lines in a file.

    ``parse`` turns a line's JSON value into an entry, and raises ValueError, TypeError or KeyError
    for an invalid value. ``values`` turns an entry into a JSON list or object.
    """

    title: str  # the name and the number of the format, as in the header; "": there is no header
    parse: Callable[[Any], T]
    unit: str  # plural noun for the entries in messages
    values: Callable[[Any], Any] = lambda entry: entry
    remedy: str = ""  # advice for a damaged file


def read_data(path: Path) -> bytes:
    """Return the content of a file of a run directory.

    Raises:
        UnreadableRun: the file is missing or cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise UnreadableRun(
            f"{path.parent} has no readable {path.name}: {error.strerror or error}"
        ) from None


def parse_lines(path: Path, form: Format[T], data: bytes) -> tuple[dict[str, Any], list[T]]:
    """Return the header and the entries of a file's content; ignore an incomplete last line.

    Raises:
        UnreadableRun: the content has another format, or a damaged line.
    """
    *lines, torn = data.split(b"\n")
    header: dict[str, Any] = {}
    entries: list[T] = []
    if form.title and not lines:
        lines.append(torn)
    for number, line in enumerate(lines, start=1):
        headline = number == 1 and form.title != ""
        try:
            value = json.loads(line)
            if not headline:
                entries.append(form.parse(value))
                continue
            given = value.pop("format")
            if given != form.title:
                raise ValueError(f"the format is {given!r}: expected {form.title!r}")
            header = value
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            shown = shortened(line.decode(errors="replace"), 120)
            raise UnreadableRun(
                f"{path}, line {number}: {shown!r} is not {'the header' if headline else 'one'} "
                f"of a run's {form.unit}: {error}{form.remedy}"
            ) from None
    return header, entries


def open_locked(path: Path, patience: float) -> BinaryIO:
    """Open a file for appending, and lock it; make the file if it is missing.

    Raises:
        Unwritable: another process held the lock for ``patience`` seconds.
        OSError: the file cannot be opened.
    """
    deadline = time.monotonic() + patience
    file = path.open("a+b", buffering=0)
    while True:
        try:
            lock_file(file, path)
            return file
        except Unwritable:
            if time.monotonic() > deadline:
                file.close()
                raise
            time.sleep(0.05)


class Journal(Generic[T]):
    """A file of JSON lines that is open for appending; also a context manager.

    Args:
        path: the file, made with its folder if missing; None writes no file.
        form: the format of the lines.
        header: the options that determine the content, such as a seed. An existing file must have
            the same header.
        patience: seconds to wait if another process uses the file.

    Attributes:
        entries: the entries that the file had when it was opened.

    Raises:
        UnreadableRun: the file has another header, is damaged, or cannot be opened.
        Unwritable: another process is writing to the file.
    """

    def __init__(
        self,
        path: Path | None,
        form: Format[T],
        header: Mapping[str, Any] | None = None,
        patience: float = 0.0,
    ) -> None:
        self.path = path
        self.entries: list[T] = []
        self._form = form
        self._count = 0
        if path is None:
            return
        try:
            if path.parent.exists() and not path.parent.is_dir():
                raise UnreadableRun(f"{path.parent} is a file: expected a directory")
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = open_locked(path, patience)
            try:
                self._read(path, dict(header or {}))
            except BaseException:
                self._file.close()
                raise
        except OSError as error:
            raise UnreadableRun(f"{path}: {error.strerror or error}") from None

    def _read(self, path: Path, header: dict[str, Any]) -> None:
        form = self._form
        self._file.seek(0)
        data = self._file.read()
        first = line_of({"format": form.title, **header}) if form.title else b""
        if len(data) < len(first) and first.startswith(data):  # new, or with an incomplete header
            self._file.truncate(0)
            self._write(first)
            return
        found, self.entries = parse_lines(path, form, data)
        if found != header:
            raise UnreadableRun(f"{path} has another header: {found}, not {header}")
        self._count = len(self.entries)
        self._file.truncate(data.rfind(b"\n") + 1)

    def append(self, entry: Any) -> None:
        """Write an entry to the file at once, so that a killed process does not lose it.

        Raises:
            Unwritable: the line cannot be written; the lines before it are safe.
        """
        if self.path is None:
            return
        try:
            self._write(line_of(self._form.values(entry)))
        except OSError as error:
            raise Unwritable(
                f"{self.path}: {error.strerror or error}; the file has all earlier "
                f"{self._form.unit}, and the same command resumes the work"
            ) from None
        self._count += 1

    def _write(self, line: bytes) -> None:
        """Write a whole line; if that fails, remove the part that was written."""
        before = self._file.seek(0, os.SEEK_END)
        try:
            while line:
                line = line[self._file.write(line) :]
        except BaseException:
            with contextlib.suppress(OSError):
                self._file.truncate(before)
            raise

    def close(self) -> None:
        """Close and unlock the file."""
        if self.path is not None:
            self._file.close()

    def __enter__(self) -> Journal[T]:
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if self.path is not None and isinstance(error, KeyboardInterrupt) and not error.args:
            error.args = (
                f"{self._count} {self._form.unit} are kept in {self.path}; the same command "
                "resumes from there",
            )
        self.close()


class Findings(dict[K, V]):
    """A dictionary with tuples as keys, optionally saved to a file.

    Each line of the file is a JSON list: the items of a key, then the value of the key.
    """

    def __init__(self, path: Path | None, form: Format[tuple[K, V]]) -> None:
        self.journal = Journal(path, form)
        super().__init__(self.journal.entries)

    def store(self, key: K, value: V) -> None:
        """Add a value, and write it to the file."""
        self.journal.append([*key, value])
        self[key] = value

    def find(self, key: K, ask: Callable[[], V]) -> V:
        """Return the value of a key; if the key is missing, store the result of ``ask`` first."""
        if key not in self:
            self.store(key, ask())
        return self[key]


def line_of(value: Any) -> bytes:
    """Encode a JSON value as a line; a lone surrogate, not valid in UTF-8, becomes an escape."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace") + b"\n"
