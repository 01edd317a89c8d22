"""Files of JSON lines that only grow: games, scores and answers, kept as they are found.

The first line, the header, names the format and says what the file is about; files of games have
none. Each line ends with a checksum (CRC-32 of the line without it), so that a damaged byte does
not go unnoticed; format 1, which had none, is read as well. A line that a kill tore off in the
middle is dropped when the file is next opened; all whole lines stay.
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

from c4env.errors import FileInUse
from c4env.evaluation.errors import UnreadableRun, UnwritableRun
from c4env.evaluation.tables import shortened
from c4env.files import lock_file

T = TypeVar("T")
K = TypeVar("K", bound=tuple[Any, ...])
V = TypeVar("V")

_CHECKED: Final = re.compile(rb'(.*),(?:"check":)?"([0-9a-f]{8})"([}\]])', re.DOTALL)


class Format(NamedTuple, Generic[T]):
    """What the lines of a file are.

    ``parse`` makes an entry of a line's JSON value, and raises ValueError, TypeError or KeyError
    where it is none; ``values`` makes the JSON list or object of what is appended.
    """

    name: str  # as in the header, without the number of the format
    parse: Callable[[Any], T]
    unit: str  # what the entries are called
    values: Callable[[Any], Any] = lambda entry: entry
    remedy: str = ""  # what to do about a damaged file
    headed: bool = True  # the first line is a header


class Content(NamedTuple, Generic[T]):
    """What a file of JSON lines holds."""

    header: dict[str, Any]
    entries: list[T]
    length: int  # bytes of its whole lines
    lines: list[int]  # the number of the line of each entry


def read_lines(path: Path, form: Format[T], data: bytes | None = None) -> Content[T]:
    """Header and entries of a file; a line torn off at the end is passed over.

    Of several headers, as old runs have them, the last one holds.

    Raises:
        UnreadableRun: no such file, another format, or a damaged line, which is named.
    """
    if data is None:
        try:
            data = path.read_bytes()
        except OSError as error:
            raise UnreadableRun(
                f"{path.parent} holds no readable {path.name}: {error.strerror or error}"
            ) from None
    *lines, torn = data.split(b"\n")
    header: dict[str, Any] = {}
    entries: list[T] = []
    places: list[int] = []
    checked = not form.headed
    if (form.headed and not lines) or (
        torn and _CHECKED.fullmatch(torn[:-1])
    ):  # the end of the line is damaged
        lines.append(torn)
    for number, line in enumerate(lines, start=1):
        try:
            value = _value(line, checked)
            heads = number == 1 or (isinstance(value, dict) and "format" in value)
            if not (form.headed and heads):
                entries.append(form.parse(value))
                places.append(number)
                continue
            given = value.pop("format")
            if given not in (f"{form.name} 1", f"{form.name} 2"):
                raise ValueError(f"the format is {given!r}")
            checked = given == f"{form.name} 2"
            _value(line, checked)
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
    """A file open for appending, made when missing, that no other process writes to meanwhile.

    Raises:
        FileInUse: another process wrote to it for ``patience`` seconds.
        OSError: it cannot be opened.
    """
    deadline = time.monotonic() + patience
    while True:
        file = path.open("a+b", buffering=0)
        try:
            lock_file(file, path)
            if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                return file
        except FileInUse:
            if time.monotonic() > deadline:
                file.close()
                raise
            time.sleep(0.05)
        except BaseException:
            file.close()
            raise
        file.close()  # meanwhile another file has taken its place


class Journal(Generic[T]):
    """One such file, open for appending until it is closed; also a context manager.

    Args:
        path: the file; it and its folder are made when missing. None keeps nothing.
        form: what its lines are.
        header: what it is about; that of an existing file must be the same.
        agree: called with what the file holds before anything is written; may raise.
        patience: seconds to wait for a file that is in use.

    Attributes:
        entries: those already in the file when it was opened.

    Raises:
        UnreadableRun: the file is something else, is damaged, cannot be opened.
        FileInUse: another process is writing to it.
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
        if len(data) < len(first) and first.startswith(data):  # new, or torn off in the header
            self._file.truncate(0)
            self._write(first)
            return
        found = read_lines(path, form, data)
        if found.header != header:
            raise UnreadableRun(f"{path} is about something else: {found.header}, not {header}")
        if agree is not None:
            agree(found)
        self.entries = found.entries
        self._count = len(found.entries)
        self._file.truncate(found.length)

    def append(self, entry: Any) -> None:
        """Add an entry; once this returns, killing the process does not lose it.

        Raises:
            UnwritableRun: the disk is full, or the like; the lines before it are safe.
        """
        if self.path is None:
            return
        try:
            self._write(line_of(self._form.values(entry)))
        except OSError as error:
            raise UnwritableRun(
                f"{self.path}: {error.strerror or error}; the {self._form.unit} before are in "
                "it, and the same command goes on from there"
            ) from None
        self._count += 1

    def _write(self, line: bytes) -> None:
        """The whole line, or nothing: another may follow it."""
        before = self._file.seek(0, os.SEEK_END)
        try:
            while line:
                line = line[self._file.write(line) :]
        except BaseException:
            with contextlib.suppress(OSError):
                self._file.truncate(before)
            raise

    def close(self) -> None:
        """Let go of the file."""
        if self.path is not None:
            self._file.close()

    def __enter__(self) -> Journal[T]:
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if self.path is not None and isinstance(error, KeyboardInterrupt) and not error.args:
            error.args = (
                f"{self._count} {self._form.unit} are kept in {self.path}; the same command "
                "goes on from there",
            )
        self.close()


class Findings(dict[K, V]):
    """What was found out, by a tuple that says of what; in a file too, if there is one.

    An entry of the file is such a pair; its line has what was found behind the parts of the tuple.
    """

    def __init__(self, path: Path | None, form: Format[tuple[K, V]], patience: float = 0.0) -> None:
        self.journal = Journal(path, form, patience=patience)
        super().__init__(self.journal.entries)
        self._lock = threading.Lock()

    def find(self, key: K, ask: Callable[[], V]) -> V:
        """What is known, or what ``ask`` says now, which is kept; threads may ask at once."""
        if key not in self:
            found = ask()
            with self._lock:
                self.journal.append([*key, found])
                self[key] = found
        return self[key]


def line_of(value: Any) -> bytes:
    """A JSON list or object as a line with a checksum.

    Half of a surrogate pair, which UTF-8 does not have, is written as JSON's escape for it.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    body = text.encode("utf-8", "backslashreplace")
    key = b'"check":' if body.endswith(b"}") else b""
    return b'%b,%b"%08x"%b\n' % (body[:-1], key, zlib.crc32(body), body[-1:])


def _value(line: bytes, checked: bool) -> Any:
    """The JSON value of a line without its checksum.

    Raises:
        ValueError: no JSON, a wrong checksum, or none where there should be one.
    """
    if found := _CHECKED.fullmatch(line):
        line = found[1] + found[3]
        if zlib.crc32(line) != int(found[2], 16):
            raise ValueError("its checksum is wrong: it was damaged")
    elif checked:
        raise ValueError("its checksum is missing: it was damaged")
    return json.loads(line)
