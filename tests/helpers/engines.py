"""Programs that play by lines, written as files, and whether processes still live."""

import os
import shlex
import sys
import time
from pathlib import Path

FIRST = "print(next(c for c in '1234567' if moves.count(c) < 6), flush=True)"
"""Answers the leftmost column."""


def python(folder: Path, source: str, name: str = "engine.py") -> str:
    """The command that runs a Python source."""
    path = folder / name
    path.write_text(source)
    return f"{shlex.quote(sys.executable)} -I -S {shlex.quote(str(path))}"


def answering(folder: Path, statements: str, name: str = "engine.py") -> str:
    """The command of a program that runs statements for each line, its ``moves``."""
    loop = "import sys, time\nfor line in sys.stdin:\n    moves = line.strip()\n    "
    return python(folder, loop + statements + "\n", name)


def lives(pid: int) -> bool:
    """False when the process has ended, waited for or not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        if sys.platform == "linux":
            return False
        try:  # no process file system here
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        return True
    return state != "Z"


def wait_for_the_end(pids: list[int], seconds: float = 20.0) -> list[int]:
    """Those of the processes that still live after so long."""
    deadline = time.monotonic() + seconds
    while (left := [pid for pid in pids if lives(pid)]) and time.monotonic() < deadline:
        time.sleep(0.02)
    return left
