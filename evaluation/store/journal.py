"""Read and append to files of JSON lines, which store games, scores and answers.

The first line is a header with the format of the file, and with the options that determine the
content. Files of games have no header. Each line ends with a checksum, the CRC-32 of the rest of
the line. If a killed process leaves an
incomplete last line, the next process that opens the file for appending removes this line.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import threading
import time
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final, Generic, NamedTuple, TypeVar

from c4env.errors import UnreadableRun, Unwritable
from c4env.evaluation.tables import shortened
from c4env.files import lock_file

T = TypeVar("T")
K = TypeVar("K", bound=tuple[Any, ...])
V = TypeVar("V")

_CHECKED: Final = re.compile(rb'(.*),(?:"check":)?"([0-9a-f]{8})"([}\]])', re.DOTALL)


class Format(NamedTuple, Generic[T]):
    """The format of the lines in a file.

    ``parse`` turns a line's JSON value into an entry, and raises ValueError, TypeError or KeyError
    for an invalid value. ``values`` turns an entry into a JSON list or object.
    """

    name: str  # the name in the header, without the format's number
    parse: Callable[[Any], T]
    unit: str  # plural noun for the entries in messages
    values: Callable[[Any], Any] = lambda entry: entry
    remedy: str = ""  # advice for a damaged file
    headed: bool = True  # the first line is a header


class Content(NamedTuple, Generic[T]):
    """The content of a file of JSON lines."""

    header: dict[str, Any]
    entries: list[T]
    length: int  # bytes in all complete lines
    lines: list[int]  # the line number of each entry


def read_lines(path: Path, form: Format[T], data: bytes | None = None) -> Content[T]:
    """Read the header and the entries of a file; ignore an incomplete last line.

    Raises:
        UnreadableRun: the file is missing, has another format, or has a damaged line.
    """
    if data is None:
        try:
            data = path.read_bytes()
        except OSError as error:
            raise UnreadableRun(
                f"{path.parent} has no readable {path.name}: {error.strerror or error}"
            ) from None
    *lines, torn = data.split(b"\n")
    header: dict[str, Any] = {}
    entries: list[T] = []
    places: list[int] = []
    if (form.headed and not lines) or (
        torn and _CHECKED.fullmatch(torn[:-1])
    ):  # the end of the line is damaged
        lines.append(torn)
    for number, line in enumerate(lines, start=1):
        try:
            value = _value(line)
            if number > 1 or not form.headed:
                entries.append(form.parse(value))
                places.append(number)
                continue
            given = value.pop("format")
            if given != f"{form.name} 2":
                raise ValueError(f"the format is {given!r}: expected '{form.name} 2'")
            header = value
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            what = "the header" if number == 1 and form.headed else "one"
            shown = shortened(line.decode(errors="replace"), 120)
            raise UnreadableRun(
                f"{path}, line {number}: {shown!r} is not {what} "
                f"of a run's {form.unit}: {error}{form.remedy}"
            ) from None
    return Content(header, entries, len(data) - len(torn), places)


def open_locked(path: Path, patience: float = 0.0) -> BinaryIO:
    """Open a file for appending, and lock it; make the file if it is missing.

    Raises:
        Unwritable: another process held the lock for ``patience`` seconds.
        OSError: the file cannot be opened.
    """
    deadline = time.monotonic() + patience
    while True:
        file = path.open("a+b", buffering=0)
        try:
            lock_file(file, path)
            if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                return file
        except Unwritable:
            if time.monotonic() > deadline:
                file.close()
                raise
            time.sleep(0.05)
        except BaseException:
            file.close()
            raise
        file.close()  # another process has replaced the file meanwhile


class Journal(Generic[T]):
    """A file of JSON lines that is open for appending; also a context manager.

    Args:
        path: the file, made with its folder if missing; None writes no file.
        form: the format of the lines.
        header: the options that determine the content, such as a seed. An existing file must have
            the same header.
        agree: a check of the content of an existing file, which may raise an error.
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
        agree: Callable[[Content[T]], None] | None = None,
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
                self._read(path, dict(header or {}), agree)
            except BaseException:
                self._file.close()
                raise
        except OSError as error:
            raise UnreadableRun(f"{path}: {error.strerror or error}") from None

    def _read(
        self, path: Path, header: dict[str, Any], agree: Callable[[Content[T]], None] | None
    ) -> None:
        form = self._form
        self._file.seek(0)
        data = self._file.read()
        first = line_of({"format": f"{form.name} 2", **header}) if form.headed else b""
        if len(data) < len(first) and first.startswith(data):  # new, or with an incomplete header
            self._file.truncate(0)
            self._write(first)
            return
        found = read_lines(path, form, data)
        if found.header != header:
            raise UnreadableRun(f"{path} has another header: {found.header}, not {header}")
        if agree is not None:
            agree(found)
        self.entries = found.entries
        self._count = len(found.entries)
        self._file.truncate(found.length)

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
    Several threads may call :meth:`find`.
    """

    def __init__(self, path: Path | None, form: Format[tuple[K, V]], patience: float = 0.0) -> None:
        self.journal = Journal(path, form, patience=patience)
        super().__init__(self.journal.entries)
        self._lock = threading.Lock()

    def find(self, key: K, ask: Callable[[], V]) -> V:
        """Return the value of a key; if the key is missing, store the result of ``ask`` first."""
        if key not in self:
            found = ask()
            with self._lock:
                self.journal.append([*key, found])
                self[key] = found
        return self[key]


def line_of(value: Any) -> bytes:
    """Encode a JSON list or object as a line with a checksum.

    A lone surrogate, which UTF-8 cannot encode, becomes a JSON escape.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    body = text.encode("utf-8", "backslashreplace")
    key = b'"check":' if body.endswith(b"}") else b""
    return b'%b,%b"%08x"%b\n' % (body[:-1], key, zlib.crc32(body), body[-1:])


def _value(line: bytes) -> Any:
    """Decode a line; return its value without the checksum.

    Raises:
        ValueError: the line is not JSON, or its checksum is wrong or missing.
    """
    found = _CHECKED.fullmatch(line)
    if found is None:
        raise ValueError("its checksum is missing: the line was damaged")
    line = found[1] + found[3]
    if zlib.crc32(line) != int(found[2], 16):
        raise ValueError("its checksum is wrong: the line was damaged")
    return json.loads(line)
