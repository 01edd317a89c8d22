"""The one way this project compiles a function: :func:`kernel`.

Numba's disk cache watches only the file a function stands in. A kernel that
calls one from another file would go on running old machine code after an
upgrade. So the cache lives in a folder named by a hash of the sources that hold
kernels and of all that these import: new sources, new folder. jit removes folders that no
process has used for a while. Where no folder is writable, a temporary one serves for as long
as the process runs.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import os
import re
import shutil
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

import numba

from c4env.boards import STANDARD, size_of
from c4env.sources import imports_of, modules

config: Any = numba.config  # its settings are made at run time

KERNEL: Final = re.compile(rb"^\s*@kernel\(", re.MULTILINE)
KEPT_DAYS: Final = 14  # without use, before the machine code of other sources is removed

F = TypeVar("F", bound=Callable[..., Any])

# A static evaluation in the text of a signature: float64(int64 mine, int64 theirs). As a
# first-class function type it reaches a search as an argument, so that the search is
# compiled once for all heuristics, the user's own among them.
HEURISTIC: Final = "FunctionType(float64(int64, int64))"


def kernel_sources(files: Mapping[str, Path]) -> dict[str, bytes]:
    """The sources of all modules that hold a kernel, and of all that these import, by name.

    A kernel is compiled with the constants of the modules it names, so those count too.

    Args:
        files: modules by name, and their files.
    """
    texts = {name: path.read_bytes() for name, path in files.items()}
    wanted = [name for name, text in texts.items() if KERNEL.search(text)]
    found: dict[str, bytes] = {}
    while wanted:
        name = wanted.pop()
        if name in texts and name not in found:
            found[name] = texts[name]
            wanted += imports_of(texts[name], everywhere=False)
    return dict(sorted(found.items()))


def source_hash() -> str:
    """Hex digest of :func:`kernel_sources`, of the versions of Python and of Numba."""
    digest = hashlib.sha256(f"{sys.version_info[:2]} {numba.__version__}".encode())
    for name, text in kernel_sources(modules()).items():
        digest.update(name.encode())
        digest.update(text)
    return digest.hexdigest()[:16]


@functools.cache
def cache_folder() -> Path:
    """Writable folder for machine code: ``$NUMBA_CACHE_DIR``, the user's cache, or a temporary one.

    Each is tried in turn; within it the folder is named by :func:`source_hash`.
    """
    name = f"c4env-{source_hash()}"
    places = [os.environ.get("NUMBA_CACHE_DIR"), os.environ.get("XDG_CACHE_HOME")]
    candidates = [Path(place) for place in places if place]
    with contextlib.suppress(RuntimeError):  # no home at all, as in some containers
        candidates.append(Path.home() / ".cache")
    for base in candidates:
        folder = base / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                os.utime(folder)  # used now
        except OSError:
            continue
        remove_unused(base)
        return folder
    folder = Path(tempfile.mkdtemp(prefix=name))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _folder_of(function: Callable[..., Any]) -> Path:
    """Where its machine code is kept: for each board apart, since the sources are the same."""
    size = size_of(function.__module__) or STANDARD
    return cache_folder() if size == STANDARD else cache_folder() / str(size)


def remove_unused(base: Path) -> None:
    """Remove cache folders in ``base`` that no process has begun to use for ``KEPT_DAYS`` days.

    A process that still runs does not need its folder: what is missing is compiled again.
    """
    oldest = time.time() - KEPT_DAYS * 24 * 60 * 60
    for folder in base.glob(f"c4env-{'[0-9a-f]' * 16}"):
        with contextlib.suppress(OSError):  # another process may be removing it
            if folder.stat().st_mtime < oldest:
                shutil.rmtree(folder, ignore_errors=True)


class _Compiling:
    """Whether this process has compiled a kernel that was not on disk, and who is to be told."""

    lock = threading.RLock()  # held while a kernel is compiled or loaded
    happened = False
    tell: Callable[[], None] | None = None


def on_compiling(tell: Callable[[], None]) -> None:
    """Have a function called, once, if this process compiles a kernel that is not on disk yet.

    It is called after the first such kernel, at once if there was one already: so that a
    command can say why its first run takes long to begin, and says nothing when it does not.
    """
    with _Compiling.lock:
        if _Compiling.happened:
            tell()
        else:
            _Compiling.tell = tell


def kernel(signature: Any, **options: Any) -> Callable[[F], F]:
    """Compile a function for one explicit signature, through the disk cache.

    Args:
        signature: a Numba signature, as text or as an object, or a list of them. Never inferred: a
            recursive kernel left to infer its types crashed in the second process
            that loaded it from the cache. Boards are int64 everywhere.
        options: passed on to ``numba.njit``. They are not part of the cache key, so
            two kernels that differ only in options need different names.

    With ``NUMBA_DISABLE_JIT=1`` the plain Python function is returned: int64 boards
    of 49 bits give the same answers uncompiled.
    """

    def compile_(function: F) -> F:
        if config.DISABLE_JIT:
            return function
        # The decorator reads the cache folder from Numba's configuration, which all threads share.
        with _Compiling.lock, warnings.catch_warnings():
            # The one type the heuristics need; measured and tested here.
            warnings.filterwarnings("ignore", "First-class function type")
            before = config.CACHE_DIR
            config.CACHE_DIR = str(_folder_of(function))
            try:
                dispatcher = numba.njit(signature, cache=True, **options)(function)
            finally:
                config.CACHE_DIR = before
            if dispatcher.stats.cache_misses and not _Compiling.happened:
                _Compiling.happened = True
                if _Compiling.tell:
                    _Compiling.tell()
        compiled: F = dispatcher  # it stands for the function
        return compiled

    return compile_
