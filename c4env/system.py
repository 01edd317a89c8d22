"""What this process runs, and on what: version, commit, command, and the processors."""

from __future__ import annotations

import functools
import subprocess
from contextvars import ContextVar
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parents[1]  # where this process found the package

try:
    __version__ = version("c4env")
except PackageNotFoundError:  # run from a checkout that was never installed
    __version__ = "unknown"

COMMAND: Final = ContextVar[tuple[str, ...] | None]("COMMAND", default=None)
"""The words of the ``c4`` command that runs now; None without one, as in a program."""


@functools.cache
def commit() -> str:
    """Return the commit of the checkout that this package runs from; "" if there is none.

    The suffix ``-dirty`` says that tracked files differ from the commit.
    """
    if not (FOLDER / ".git").exists():
        return ""
    command = ["git", "-C", str(FOLDER), "describe", "--always", "--abbrev=12", "--dirty"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()


def usable_cores() -> int:
    """Return the number of processors that this process may use, at least 1.

    The number respects the process's affinity, the limit of a container (cgroup), and the variables
    ``LOKY_MAX_CPU_COUNT`` and, from Python 3.13, ``PYTHON_CPU_COUNT``.
    """
    import joblib  # the import takes 0.2 s

    return int(joblib.cpu_count())
