"""The one way this project compiles a function: :func:`kernel`.

Numba's disk cache watches only the file that defines a function. After an upgrade, a kernel that
calls a kernel in another file would still run old machine code. So the name of the cache folder
contains one hash of all sources that have kernels, or constants for kernels (``CONSTANTS``). Edits
of other modules keep the machine code. The cache folder has one folder per board.

The process that makes a cache folder removes the cache folders that no process has used for
``KEPT_DAYS`` days. If no folder is writable, or the disk is full, a temporary folder serves until
the process ends.
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
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, TypeVar

import numba

from c4env.errors import Unwritable
from c4env.geometry import BOARD_SIZE, IS_STANDARD
from c4env.system import KERNELS, NUMBA, SILENT

config: Any = numba.config  # its attributes are set at run time

KERNEL: Final = re.compile(rb"^\s*(?:@|\w+ = )kernel\(", re.MULTILINE)
CONSTANTS: Final = (  # the files that have no kernels, but constants for kernels
    "c4env/geometry.py",
    "c4env/jit.py",
    "c4env/rules.py",
    "envs/streams.py",
    "search/threads.py",
    "heuristics/__init__.py",
    "heuristics/weights.py",
)
KEPT_DAYS: Final = 14  # days without use before a cache folder is removed
TEMPORARY: Final = "C4ENV_TEMPORARY_CACHE"  # the variable that leads other processes to the folder

F = TypeVar("F", bound=Callable[..., Any])

# The type of a static evaluation, float64(int64 mine, int64 theirs), in a signature. A search
# takes a heuristic as an argument of first-class function type: one compiled search serves all
# heuristics, a user's own included.
HEURISTIC: Final = "FunctionType(float64(int64, int64))"


class _State:
    """What this process compiled, and where."""

    lock = threading.RLock()  # around compiling and loading a kernel
    compiled = False  # whether a kernel was compiled
    temporary: tuple[str, int] | None = None  # the folder, and the process that made it


def kernel(signature: Any, **options: Any) -> Callable[[F], F]:
    """Compile a function for one explicit signature, through the disk cache.

    Args:
        signature: a Numba signature, as text or as an object, or a list of them. The signature
            is required, because a recursive kernel with inferred types crashed in the second
            process that loaded it from the cache. Boards are int64 everywhere.
        options: arguments of ``numba.njit``. The cache key leaves them out, so two kernels that
            differ only in options need different names.

    With ``NUMBA_DISABLE_JIT=1`` the decorator returns the Python function, which gives the
    same answers on int64 boards.
    """

    def compile_(function: F) -> F:
        if config.DISABLE_JIT:
            return function
        with _State.lock:
            dispatcher = None
            while dispatcher is None:
                try:
                    dispatcher = _compile(function, signature, options)
                except OSError as error:  # the code cannot be written: the disk may be full
                    _leave_cache_folder(error)
            if dispatcher.stats.cache_misses and not _State.compiled:
                _State.compiled = True
                _announce()
        compiled: F = dispatcher  # called like the function
        return compiled

    return compile_


def _compile(function: Any, signature: Any, options: dict[str, Any]) -> Any:
    """Compile or load a function; OSError if its code cannot be written to the board's folder.

    Every board needs its own folder, because Numba's key for machine code leaves out the values of
    globals, such as the kernels of a board.
    """
    folder, before = cache_folder() / str(BOARD_SIZE), config.CACHE_DIR
    config.CACHE_DIR = str(folder)
    try:
        with warnings.catch_warnings():
            # Numba calls this type experimental; heuristics need it, and tests cover it.
            warnings.filterwarnings("ignore", "First-class function type")
            dispatcher = numba.njit(signature, cache=True, **options)(function)
    finally:
        config.CACHE_DIR = before
    if folder not in Path(dispatcher.stats.cache_path).parents:
        raise OSError("Numba cannot make a folder there")  # it took __pycache__
    return dispatcher


def _announce() -> None:
    """Print on stderr that kernels compile, and whether they will on each run."""
    if SILENT in os.environ or sys.stderr is None:
        return
    line = "c4env: compiling native code" + ("" if IS_STANDARD else f" for the board {BOARD_SIZE}")
    if TEMPORARY in os.environ:
        line += ", on each run: no cache folder can be written (NUMBA_CACHE_DIR sets one)"
    else:
        line += ", only once for each function"
    with contextlib.suppress(OSError, ValueError):  # nobody reads it
        print(line, file=sys.stderr, flush=True)


@functools.cache
def cache_folder() -> Path:
    """Make and return the cache folder; :func:`source_hash` is part of its name.

    The folder lies in the first writable one of ``$NUMBA_CACHE_DIR``, ``$XDG_CACHE_HOME`` and
    ``~/.cache``. If none is writable, the folder is temporary, and the processes that this process
    starts use it too.

    Raises:
        Unwritable: no temporary folder can be made either.
    """
    name = f"c4env-{source_hash()}"
    variables = (TEMPORARY, KERNELS if KERNELS in os.environ else NUMBA, "XDG_CACHE_HOME")
    candidates = [Path(folder) for folder in map(os.environ.get, variables) if folder]
    with contextlib.suppress(RuntimeError):  # no home at all, as in some containers
        candidates.append(Path.home() / ".cache")
    for base in candidates:
        folder = base / name
        is_new = not folder.exists()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                os.utime(folder)  # marks it as used now
        except OSError:
            continue
        if is_new:
            remove_unused(base)
        return folder
    return _make_temporary()


def _make_temporary() -> Path:
    """Make a cache folder for this process and the processes that it starts."""
    try:
        temporary = tempfile.mkdtemp(prefix="c4env-")
        folder = Path(temporary, f"c4env-{source_hash()}")
        folder.mkdir()
    except OSError as error:
        raise _unwritable("a temporary folder", error) from None
    os.environ[TEMPORARY] = temporary
    _State.temporary = temporary, os.getpid()
    atexit.register(remove_temporary)
    return folder


def _leave_cache_folder(error: OSError) -> None:
    """Use a temporary cache folder from now on; Unwritable if a temporary folder just failed."""
    if TEMPORARY in os.environ:
        raise _unwritable(cache_folder(), error) from None
    _make_temporary()
    cache_folder.cache_clear()
    _State.compiled = False  # print again: this folder does not stay


def _unwritable(folder: object, error: OSError) -> Unwritable:
    why = f"{error.strerror or error}: expected room for compiled code"
    return Unwritable(f"{folder} cannot be written: {why}; NUMBA_CACHE_DIR sets another folder")


def source_hash() -> str:
    """Return a hash of :func:`kernel_sources` and of the Python and Numba versions."""
    digest = hashlib.sha256(f"{sys.version_info[:2]} {numba.__version__}".encode())
    for path, text in kernel_sources().items():
        digest.update(path.name.encode() + text)
    return digest.hexdigest()[:16]


def kernel_sources() -> dict[Path, bytes]:
    """Return the sources that have kernels or constants for kernels, without importing them."""
    sources = {}
    for package in ("c4env", "c4env.agents"):
        spec = find_spec(package)
        for path in sorted(Path(str(spec and spec.origin)).parent.rglob("*.py")):
            text = path.read_bytes()
            if KERNEL.search(text) or path.as_posix().endswith(CONSTANTS):
                sources[path] = text
    return sources


def remove_temporary() -> None:
    """Remove the temporary cache folder, if this process made one."""
    if _State.temporary is not None:
        folder, owner = _State.temporary
        if owner == os.getpid():  # not a fork, which shares the folder
            shutil.rmtree(folder, ignore_errors=True)


def remove_unused(base: Path) -> None:
    """Remove cache folders in ``base`` that no process has opened for ``KEPT_DAYS`` days.

    A running process whose folder is removed compiles its kernels again.
    """
    oldest = time.time() - KEPT_DAYS * 24 * 60 * 60
    for folder in base.glob(f"c4env-{'[0-9a-f]' * 16}"):
        with contextlib.suppress(OSError):  # another process may be removing it
            if folder.stat().st_mtime < oldest:
                shutil.rmtree(folder, ignore_errors=True)


# A user's compiled function may have this board's kernels or numbers as globals, which are not part
# of Numba's key. So each board has its own cache of users' functions too.
if not IS_STANDARD and KERNELS not in os.environ:
    config.CACHE_DIR = str(cache_folder() / str(BOARD_SIZE))
