"""Import paths, by which a spec names a user's agent or heuristic.

The modules beside a file that a spec names belong to the files of that folder alone: two folders
may each have a ``helper.py``. Imports in such a file, and in the modules beside it, go through the
folder (:class:`Folder`), at once and during a game. So these modules are not in ``sys.modules``,
and ``importlib.import_module`` and ``pickle`` find them only while the file is imported.
"""

from __future__ import annotations

import builtins
import difflib
import functools
import importlib
import os
import sys
import threading
import traceback
import types
from collections.abc import Iterable, Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from typing import Any, Final, Self

from c4env.errors import C4Error, WrongBoard

main_objects: Final[dict[str, Any]] = {}
"""Objects imported from ``__main__``, keyed by import path. Another process cannot import these
objects: ``__main__`` is the script or the interactive session of this process."""


def import_attribute(path: str) -> Any:
    """Import the object that ``package.module:attribute`` or ``FILE.py:attribute`` names.

    A module may lie in the current directory. A file may import modules from the file's directory,
    except those that have the name of an installed package. A file that was edited is read again.

    Raises:
        ImportError, AttributeError: the object does not exist, or the module raises an error.
    """
    module_name, _, attribute = path.rpartition(":")
    if not module_name:
        raise ImportError(f"{path!r} names no module")
    here = os.getcwd()
    added = here not in sys.path and "" not in sys.path
    if added:
        sys.path.append(here)
    try:
        if module_name.endswith(".py"):
            module = _import_file(module_name)
        else:
            module = importlib.import_module(module_name)
    except ImportError:
        raise
    except (Exception, SystemExit) as error:  # the user's code may raise any error
        raise ImportError(f"importing {module_name!r} raised {format_error(error)}") from error
    finally:
        if added and here in sys.path:
            sys.path.remove(here)
    found = getattr(module, attribute)
    if module_name == "__main__":
        main_objects[path] = found
    return found


def import_callable(path: str, wrong: type[C4Error], who: str, expected: str) -> Any:
    """Import a class or function by its import path (:func:`import_attribute`).

    Raises:
        wrong: the path names none; the message begins with ``who`` and ends with ``expected``.
    """
    try:
        found = import_attribute(path)
    except WrongBoard:
        raise
    except (ImportError, AttributeError) as error:
        raise wrong(f"{who}: {error}; expected {expected}") from error
    if not callable(found):
        raise wrong(f"{who}: {found!r} is not a function or class; expected {expected}")
    return found


def _import_file(path: str) -> types.ModuleType:
    """Import a Python file; register it in ``sys.modules`` by its absolute and its given path."""
    whole = os.path.abspath(path)
    folder = folders.setdefault(os.path.dirname(whole), Folder(os.path.dirname(whole)))
    if whole not in sys.modules or folder.edited():
        if not os.path.isfile(path):
            if path in sys.modules:  # the code changed the working directory
                return sys.modules[path]
            raise ImportError(f"there is no file {path!r}")
        if folder.edited():
            folder.forget()
        _is_beside.cache_clear()
        spec = spec_from_loader(whole, _Loader(whole, whole, folder))
        assert spec is not None  # since the loader has a file
        assert spec.loader is not None
        sys.modules[whole] = module_from_spec(spec)
        # To pickle a class, Python also imports the part of the module's name before the first dot.
        sys.modules.setdefault(whole.partition(".")[0], sys.modules[whole])
        try:
            spec.loader.exec_module(sys.modules[whole])
        except BaseException:
            del sys.modules[whole]
            raise
    sys.modules[path] = sys.modules[whole]
    return sys.modules[whole]


_lock: Final = threading.RLock()


class Folder:
    """The modules beside the files of a folder, and the finder that imports them.

    Attributes:
        modules: the modules by name, once they are imported.
        stamps: times and sizes of the files that were imported, by path.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.modules: dict[str, types.ModuleType] = {}
        self.stamps: dict[str, tuple[int, int]] = {}
        self.builtins = {**vars(builtins), "__import__": self._import}
        self._depth = 0
        self._hidden: dict[str, types.ModuleType] = {}

    def _import(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> types.ModuleType:
        """Import as Python does, with the modules of this folder in ``sys.modules``."""
        known = None if level or self._depth else self.modules.get(name)
        if known is not None and not fromlist:
            return self.modules[name.partition(".")[0]]
        if known is not None and all(hasattr(known, each) for each in fromlist or ()):
            return known
        if level or self.owns(name):
            with self:
                return __import__(name, globals, locals, fromlist or (), level)
        return __import__(name, globals, locals, fromlist or (), level)

    def owns(self, name: str) -> bool:
        """Whether the module is beside the files, and not an installed one."""
        top = name.partition(".")[0]
        return top not in _SHARED and _is_beside(self.path, top)

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a module of this folder; its imports go through the folder."""
        if not self.owns(name):
            return None
        spec = PathFinder.find_spec(name, [self.path] if path is None else path)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(name, spec.loader.path, self)
        return spec

    def __enter__(self) -> Self:
        _lock.acquire()
        self._depth += 1
        if self._depth == 1:
            self._hidden = self._taken()
            sys.modules.update(self.modules)
            sys.meta_path.insert(0, self)
        return self

    def __exit__(self, *error: object) -> None:
        self._depth -= 1
        if not self._depth:
            sys.meta_path.remove(self)
            self.modules = self._taken()
            sys.modules.update(self._hidden)
        _lock.release()

    def _taken(self) -> dict[str, types.ModuleType]:
        """Take the modules with the names of this folder's modules out of ``sys.modules``."""
        return {name: sys.modules.pop(name) for name in [*sys.modules] if self.owns(name)}

    def edited(self) -> bool:
        """Whether a file was edited since its import."""
        return any(_stamp(file) != stamp for file, stamp in self.stamps.items())

    def forget(self) -> None:
        """Forget all modules, so that they are imported again."""
        for file in self.stamps:
            sys.modules.pop(file, None)
        self.modules.clear()
        self.stamps.clear()


class _Loader(SourceFileLoader):
    """Run a module's code with the imports of a folder."""

    def __init__(self, name: str, path: str, folder: Folder) -> None:
        super().__init__(name, path)
        self._folder = folder

    def exec_module(self, module: types.ModuleType) -> None:
        self._folder.stamps[self.path] = _stamp(self.path)
        vars(module)["__builtins__"] = self._folder.builtins
        with self._folder:  # also for importlib.import_module and pickle, at once
            super().exec_module(module)


folders: Final[dict[str, Folder]] = {}
"""The folders of the files that specs have named, by path."""

_SHARED: Final = sys.stdlib_module_names | {"c4env"}


@functools.lru_cache(10_000)
def _is_beside(folder: str, name: str) -> bool:
    """Whether a module lies in a folder, and no installed package has its name."""
    found = PathFinder.find_spec(name, [folder])
    if found is None:
        return False
    installed = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    return PathFinder.find_spec(name, installed) is None


def _stamp(file: str) -> tuple[int, int]:
    try:
        now = os.stat(file)
    except OSError:
        return 0, 0
    return now.st_mtime_ns, now.st_size


def file_hint(name: str, meant: str) -> str:
    """Return ``; did you mean {meant!r}?`` if there is a file ``name``, else an empty text."""
    return f"; did you mean {meant!r}?" if os.path.isfile(name) else ""


def suggest(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return ``; did you mean 'greedy'?`` if a known name is similar, else ``otherwise``."""
    close = difflib.get_close_matches(name, sorted(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else otherwise


def format_error(error: BaseException) -> str:
    """Describe an error in a user's code in one line: type, message, file and line number."""
    said = " ".join(str(error).split())
    frame = traceback.extract_tb(error.__traceback__)[-1]
    where = ""
    # A SyntaxError's message has file and line; a missing module has neither.
    if not isinstance(error, SyntaxError) and "importlib" not in frame.filename:
        where = f" ({os.path.basename(frame.filename)}, line {frame.lineno})"
    return f"{type(error).__name__}: {said[:300]}{where}"
