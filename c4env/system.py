"""What this process runs, and on what: version, commit, command, and the processors."""

from __future__ import annotations

import functools
import os
import site
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parents[1]  # where this process found the package

try:
    __version__ = version("c4env")
except PackageNotFoundError:  # run from a checkout that was never installed
    __version__ = "unknown"

NUMBA: Final = "NUMBA_CACHE_DIR"
"""The variable that names Numba's cache folder. Without ``KERNELS`` the kernels use it too."""
KERNELS: Final = "C4ENV_CACHE_DIR"
"""The variable that names the kernels' cache folder in a process of a run. There ``NUMBA`` names
a folder for users' functions, which is removed when the process ends."""

SILENT: Final = "C4ENV_SILENT"
"""The variable that is set in a process that must not print when it compiles native code."""

COMMAND: Final = ContextVar[tuple[str, ...] | None]("COMMAND", default=None)
"""The words of the ``c4`` command that runs now; None outside a command."""


@functools.cache
def commit() -> str:
    """Return the commit of the checkout that this package runs from, or "" outside a checkout.

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


def is_users(file: str) -> bool:
    """Return whether a file is a user's: not part of Python, a package or this project."""
    is_installed = not {"site-packages", "dist-packages"}.isdisjoint(Path(file).parts)
    return not is_installed and not file.startswith(_not_users())


@functools.cache
def _not_users() -> tuple[str, ...]:
    """Return the folders of Python and of this project."""
    specs = [find_spec(name) for name in ("c4env", "c4env.agents", "c4env.evaluation")]
    ours = {os.path.dirname(os.path.realpath(spec.origin or "")) for spec in specs if spec}
    folders = {os.path.dirname(os.__file__), site.getusersitepackages(), *ours}
    return tuple(os.path.join(os.path.realpath(folder), "") for folder in folders)


def usable_cores() -> int:
    """Return the number of processors that this process may use, at least 1.

    The number respects the process's affinity, the limit of a container (cgroup), and the variables
    ``LOKY_MAX_CPU_COUNT`` and, from Python 3.13, ``PYTHON_CPU_COUNT``.
    """
    import joblib  # the import takes 0.2 s

    return int(joblib.cpu_count())


class _Limit:
    """The limit that :func:`one_thread` has set."""

    lock = threading.Lock()
    inside = 0  # how many callers need it
    limiter: Any = None


@contextmanager
def one_thread() -> Iterator[None]:
    """A context, and a decorator, in which NumPy's linear algebra and PyTorch use one thread.

    Small products gain nothing from more threads, because the threads wait for each other. On a
    busy machine a board of the shipped network took 50 times as long. The limit of linear algebra
    holds for the process, from the first caller's entry until the last caller's exit. The limit of
    OpenMP, which PyTorch uses, holds for the caller's thread.
    """
    modules = len(sys.modules)
    with _Limit.lock:
        if not _Limit.inside:
            _Limit.limiter = _libraries(modules, "blas").limit(limits=1)
        _Limit.inside += 1
    threads = _libraries(modules, "openmp").limit(limits=1)
    try:
        yield
    finally:
        threads.restore_original_limits()
        with _Limit.lock:
            _Limit.inside -= 1
            if not _Limit.inside:
                _Limit.limiter.restore_original_limits()


@functools.lru_cache(maxsize=2)
def _libraries(modules: int, kind: str) -> Any:
    """Return the object that limits the loaded libraries of a kind.

    ``modules`` is part of the cache's key, because a new module may load another library.
    """
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api=kind)
