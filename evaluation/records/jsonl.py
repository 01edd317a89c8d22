"""Files of JSON lines that keep each result as soon as it is known.

    ["greedy",0,"0.1.0, ...","",34359738368,0,3]     a line of answers.jsonl: a key and its value

A kill loses no result. If a killed process leaves an incomplete last line, the next process that
opens the file for appending removes this line.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Self, TypeVar

from c4env.errors import UnreadableRun, Unwritable
from c4env.evaluation.tables import shortened
from c4env.files import lock_file

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


V = TypeVar("V")


class Lines:
    """A file of JSON lines that is open for appending; also a context manager.

    Args:
        path: the file, made with its folder if missing; None writes no file.
        read: turns a line's JSON value into an entry, or raises ValueError, TypeError or KeyError.
        patience: seconds to wait while another process writes to the file.

    Attributes:
        entries: the entries that the file had when it was opened.

    Raises:
        UnreadableRun: a line is damaged, or the file cannot be opened.
        Unwritable: another process is writing to the file.
    """

    def __init__(
        self,
        path: Path | None,
        read: Callable[[Any], Any] = lambda value: value,
        patience: float = 0.0,
    ) -> None:
        self.path, self.entries, self._count = path, list[Any](), 0
        if path is None:
            return
        try:
            if path.parent.exists() and not path.parent.is_dir():
                raise UnreadableRun(f"{path.parent} is a file: expected a directory")
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = _open_locked(path, patience)
        except OSError as error:
            raise UnreadableRun(f"{path}: {error.strerror or error}") from None
        try:
            self._file.seek(0)
            data = self._file.read()
            self.entries = parse_lines(path, data, read)
            self._count = len(self.entries)
            self._file.truncate(data.rfind(b"\n") + 1)
        except BaseException:
            self._file.close()
            raise

    def append(self, value: Any) -> None:
        """Write a JSON value at once, so that a killed process does not lose it.

        Raises:
            Unwritable: the line cannot be written; the lines before it are safe.
        """
        if self.path is None:
            return
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"
        line = text.encode("utf-8", "backslashreplace")  # a lone surrogate becomes an escape
        before = self._file.seek(0, os.SEEK_END)
        try:
            while line:
                line = line[self._file.write(line) :]
        except BaseException as error:
            with contextlib.suppress(OSError):
                self._file.truncate(before)
            if isinstance(error, OSError):
                raise Unwritable(
                    f"{self.path}: {error.strerror or error}; the file has all earlier lines, and "
                    "the same command resumes the work"
                ) from None
            raise
        self._count += 1

    def close(self) -> None:
        """Close and unlock the file."""
        if self.path is not None:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if (
            (self.path is not None and self._count)
            and isinstance(error, KeyboardInterrupt)
            and not error.args
        ):
            what = self.path.stem if self.path.suffix == ".jsonl" else "lines"
            error.args = (
                f"{self._count} {what} are kept in {self.path}; the same command resumes from "
                "there",
            )
        self.close()


class Memo(dict[tuple[Any, ...], Any]):
    """A dictionary that a file keeps. A line of the file has the items of a key, then the value.

    Several threads may use the dictionary. The first value of a key stays.

    Args:
        path: the file; None keeps nothing.
        keeps: whether the file keeps a value. Other values in the file are ignored, and new ones
            are known only while the file is open.
    """

    def __init__(
        self, path: Path | None, keeps: Callable[[Any], bool] = lambda value: True
    ) -> None:
        self._lock, self._keeps = threading.Lock(), keeps
        self.lines = Lines(path, _entry)
        super().__init__(entry for entry in self.lines.entries if keeps(entry[1]))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        self.lines.__exit__(*error)

    def find(self, key: tuple[Any, ...], ask: Callable[[], V]) -> V:
        """Return the value of a key; if the value is missing, ask for it and keep it."""
        if key not in self:
            self.keep(key, ask())
        value: V = self[key]
        return value

    def keep(self, key: tuple[Any, ...], value: Any) -> None:
        """Set the value of a key that has no value, and write it if the file keeps it."""
        with self._lock:
            if key not in self:
                if self._keeps(value):
                    self.lines.append([*key, value])
                self[key] = value


def _entry(line: Any) -> tuple[tuple[Any, ...], Any]:
    """Return the key and the value of a line of a memo."""
    if not isinstance(line, list) or any(isinstance(item, list | dict) for item in line[:-1]):
        raise ValueError("expected a list, a key and its value; delete a file of an older version")
    return tuple(line[:-1]), line[-1]


def read_lines(path: Path, read: Callable[[Any], V]) -> list[V]:
    """Return the entries of a file that another process may be writing.

    Raises:
        UnreadableRun: the file is missing, cannot be read, or has a damaged line.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UnreadableRun(
            f"{path.parent} has no readable {path.name}: {error.strerror or error}"
        ) from None
    return parse_lines(path, data, read)


def parse_lines(path: Path, data: bytes, read: Callable[[Any], V]) -> list[V]:
    """Return the entries of a file's content; ignore an incomplete last line.

    Raises:
        UnreadableRun: a line is damaged, or the last line is not the start of a JSON line.
    """
    *lines, torn = data.split(b"\n")
    if torn and torn[:1] not in b"[{":
        lines.append(torn)
    entries = []
    for number, line in enumerate(lines, start=1):
        try:
            entries.append(read(json.loads(line)))
        except (ValueError, TypeError, KeyError, IndexError, RecursionError) as error:
            shown = shortened(line.decode(errors="replace"), 120)
            raise UnreadableRun(
                f"{path}, line {number}: {shown!r} does not belong in this file: {error}"
            ) from None
    return entries


def _open_locked(path: Path, patience: float) -> BinaryIO:
    """Open a file for appending, and lock it; Unwritable if it stays locked."""
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


def read_text(path: Path | Traversable) -> str:
    """Read a text file.

    Raises:
        UnreadableRun: the file cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8-sig")  # skip a byte order mark from Windows
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableRun(f"{path}: {getattr(error, 'strerror', None) or error}") from None
