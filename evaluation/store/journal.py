"""A file of JSON lines that only grows: what was found out, kept as it is found out.

The first line names the format. A line that a kill tore off in the middle is dropped when
the file is next opened; all whole lines stay.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, TypeVar

from evaluation.errors import UnreadableRun
from evaluation.store.files import lock_file

T = TypeVar("T")


class Journal(Generic[T]):
    """One such file, open for appending until it is closed; also a context manager.

    Args:
        path: the file; it and its folder are made when missing.
        title: names the format, in the first line.
        parse: makes an entry of a line's JSON value; ValueError, TypeError or KeyError where
            it is none.

    Attributes:
        entries: those already in the file when it was opened.

    Raises:
        UnreadableRun: the file is something else, is damaged, cannot be written.
        RunInUse: another process is writing to it.
    """

    def __init__(self, path: Path, title: str, parse: Callable[[Any], T]) -> None:
        self.path = path
        self.entries: list[T] = []
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("a+b", buffering=0)
            try:
                lock_file(self._file, f"{path} is being written by another process")
                self._read(title, parse)
            except BaseException:
                self._file.close()
                raise
        except OSError as error:
            raise UnreadableRun(f"{path}: {error.strerror or error}") from None

    def _read(self, title: str, parse: Callable[[Any], T]) -> None:
        self._file.seek(0)
        data = self._file.read()
        header = _line({"format": title})
        if len(data) < len(header) and header.startswith(data):
            self._file.truncate(0)
            self._write(header)
            return
        intact = data.rfind(b"\n") + 1
        lines = data[:intact].splitlines() or [data]
        for number, line in enumerate(lines, start=1):
            try:
                value = json.loads(line)
                if number > 1:
                    self.entries.append(parse(value))
                elif value != {"format": title}:
                    raise ValueError
            except (ValueError, TypeError, KeyError):
                raise UnreadableRun(
                    f"{self.path}, line {number}: {line[:80].decode(errors='replace')!r} is not "
                    f"of the format {title!r}; without the file all is computed again"
                ) from None
        self._file.truncate(intact)

    def append(self, value: Any) -> None:
        """Add the JSON value of an entry; once this returns, a kill does not lose it.

        Raises:
            UnreadableRun: it cannot be written; the lines before it are safe.
        """
        try:
            self._write(_line(value))
        except OSError as error:
            raise UnreadableRun(f"{self.path}: {error.strerror or error}") from None

    def _write(self, line: bytes) -> None:
        """The whole line, or nothing: another may follow it."""
        before = self._file.seek(0, os.SEEK_END)
        try:
            while line:
                line = line[self._file.write(line) :]
        except OSError:
            self._file.truncate(before)
            raise

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def __enter__(self) -> Journal[T]:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _line(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
