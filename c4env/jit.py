"""The one way this project compiles a function: :func:`kernel`.

Numba's disk cache watches only the file a function stands in. A kernel that
calls one from another file would go on running old machine code after an
upgrade, so the cache lives in a folder named by a hash of all our sources: new
sources, new folder. Where no folder is writable, a temporary one serves for as
long as the process runs.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba import types
from numba.core.typeinfer import register_dispatcher

config: Any = numba.config  # its settings are made at run time

F = TypeVar("F", bound=Callable[..., Any])

# A static evaluation: float64(int64 mine, int64 theirs). As a first-class
# function type it reaches a search as an argument, so that the search is
# compiled once for all heuristics, the user's own among them.
HEURISTIC = types.FunctionType(types.float64(types.int64, types.int64))


def source_hash() -> str:
    """Hex digest of every source file that kernels are written in or call."""
    here = Path(__file__).parent
    digest = hashlib.sha256(f"{sys.version_info[:2]} {numba.__version__}".encode())
    for package in (here, here.parent / "agents"):
        for path in sorted(package.rglob("*.py")):
            digest.update(path.name.encode())
            digest.update(path.read_bytes())
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
                return folder
        except OSError:
            continue
    folder = Path(tempfile.mkdtemp(prefix=name))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def is_warm() -> bool:
    """True when machine code of these very sources is already on disk."""
    return bool(config.DISABLE_JIT) or any(cache_folder().iterdir())


def kernel(signature: Any, **options: Any) -> Callable[[F], F]:
    """Compile a function for one explicit signature, through the disk cache.

    Args:
        signature: a Numba signature, as text or as an object. Never inferred: a
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
        dispatcher = numba.njit(**options)(function)
        # enable_caching() reads the folder from the configuration, once, now.
        before = config.CACHE_DIR
        config.CACHE_DIR = str(cache_folder())
        try:
            dispatcher.enable_caching()
        finally:
            config.CACHE_DIR = before
        with register_dispatcher(dispatcher):  # a recursive kernel finds its own name
            dispatcher.compile(signature)
        dispatcher.disable_compile()
        return dispatcher  # type: ignore[no-any-return]  # a dispatcher stands for the function

    return compile_
