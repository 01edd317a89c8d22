"""Files of JSON lines that keep results as they come: a kill loses none of them.

If a killed process leaves an incomplete last line, the next process that opens the file removes
this line.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self, TypeVar

from c4env.errors import UnreadableRun, Unwritable
from c4env.files import lock_file

V = TypeVar("V")


class Lines:
    """A file of JSON lines, open for appending; None keeps nothing.

    Attributes:
        entries: what ``read`` makes of the lines that the file had.

    Raises:
        UnreadableRun: a line is damaged, or the file cannot be opened.
        Unwritable: another process is writing to the file.
    """

    def __init__(self, path: Path | None, read: Callable[[Any], Any] = lambda value: value) -> None:
        self.path, self.entries, self._count = path, list[Any](), 0
        if path is None:
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("a+b", buffering=0)
        except OSError as error:
            raise UnreadableRun(f"{path}: {error.strerror or error}") from None
        lock_file(self._file, path)
        self._file.seek(0)
        *whole, torn = self._file.read().split(b"\n")
        self._file.truncate(self._file.tell() - len(torn))
        for number, line in enumerate(whole, start=1):
            try:
                self.entries.append(read(json.loads(line)))
            except (ValueError, TypeError, KeyError) as error:
                self.close()
                raise UnreadableRun(f"{path}, line {number}: {line[:120]!r}: {error}") from None
        self._count = len(whole)

    def append(self, value: Any) -> None:
        """Write a value at once."""
        if self.path is not None:
            line = json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"
            try:
                self._file.write(line.encode("utf-8", "backslashreplace"))
            except OSError as error:
                raise Unwritable(f"{self.path}: {error.strerror}; earlier lines are safe") from None
            self._count += 1

    def close(self) -> None:
        """Close and unlock the file."""
        if self.path is not None:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, KeyboardInterrupt) and self._count and not error.args:
            error.args = (
                f"{self._count} lines are kept in {self.path}; the same command resumes from there",
            )
        self.close()


class Memo(dict[tuple[Any, ...], Any]):
    """A dictionary that a file keeps; a line is the items of a key, then its value."""

    def __init__(self, path: Path | None) -> None:
        self.lines = Lines(path)
        super().__init__({tuple(key): value for *key, value in self.lines.entries})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        self.lines.__exit__(*error)

    def find(self, key: tuple[Any, ...], ask: Callable[[], V]) -> V:
        """Return the value of a key; if it is missing, ask for it and keep it."""
        if key not in self:
            self.keep(key, ask())
        found: V = self[key]
        return found

    def keep(self, key: tuple[Any, ...], value: Any) -> None:
        """Set the value of a key, and write it."""
        self.lines.append([*key, value])
        self[key] = value
