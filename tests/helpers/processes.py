"""Python in processes of its own, which find the packages of this checkout from any folder."""

import os
import pickle
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests.helpers.paths import ROOT

T = TypeVar("T")

FORKS = pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows forks no process")


def environment(**more: str) -> dict[str, str]:
    """The variables of such a process."""
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}


def with_python() -> str:
    """The search path on which ``python`` is this Python, as in an activated environment."""
    return os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])


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


def in_a_fork(work: Callable[[], T], seconds: int = 60) -> T:
    """What a function returns in a fork of this process; EOFError if it raises, or takes longer."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about threads: pytest's threads do not matter here
        child = os.fork()
    if child == 0:
        try:
            signal.alarm(seconds)
            with open(writing, "wb") as file:
                pickle.dump(work(), file)
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as file:
        said = file.read()
    os.waitpid(child, 0)
    result: T = pickle.loads(said)
    return result
