"""Python in processes of its own, which find the packages of this checkout from any folder."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.helpers.paths import ROOT


def environment(**more: str) -> dict[str, str]:
    """The variables of such a process."""
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}


def run_python(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """A process that has ended, and what it said; options are those of ``subprocess.run``."""
    given: dict[str, Any] = {"capture_output": True, "text": True, "env": environment(), **options}
    return subprocess.run([sys.executable, *map(str, arguments)], **given)


def start_python(*arguments: object, **options: Any) -> subprocess.Popen[str]:
    """A process that runs; options are those of ``subprocess.Popen``."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    given: dict[str, Any] = {**pipes, "env": environment(), **options}
    return subprocess.Popen([sys.executable, *map(str, arguments)], **given)


def lines_of(path: Path) -> int:
    """How many whole lines a file has; 0 where there is none."""
    return path.read_bytes().count(b"\n") if path.exists() else 0


def wait_for_lines(process: subprocess.Popen[str], path: Path, count: int) -> None:
    """Wait until a running process has written so many lines."""
    while lines_of(path) < count:
        assert process.poll() is None
        time.sleep(0.005)
