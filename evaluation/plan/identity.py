"""Hash the code and the files that an agent depends on, to detect a changed agent.

These hashes are the agent's identity, part of the key of its stored results. So a changed agent
never gets the results of an earlier agent of the same name. An identity maps names of files or
objects to hashes. For a spec, the identity covers the files that its options name, the files that
were opened while the agent was made, and the modules that were imported meanwhile, unless they are
installed. For an object, it covers the code and the values that the object holds. This project's
own code has no hash.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import itertools
import json
import os
import random
import re
import shlex
import shutil
import sys
import sysconfig
import uuid
from collections.abc import Callable, Iterator, Mapping
from modulefinder import ModuleFinder
from pathlib import Path
from types import (
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    ModuleType,
)
from typing import Any, ClassVar, Final, Self

import numpy as np
from joblib.hashing import NumpyHasher

from c4env.agents.registry.entries import Entry
from c4env.agents.registry.imports import folders
from c4env.agents.registry.table import ZOO

from ...agents.base import Agent, FunctionAgent
from ...agents.network import MODEL
from ...agents.registry.registry import options_of_entry, registered_here, split_spec
from ...agents.sampling.policy_value import SELFPLAY

Identity = Mapping[str, str]
"""The hashes of an agent's parts, by name; empty for agents of this project."""

UNKNOWN: Final = "cannot tell"
"""The beginning of the text that stands for the hash of an object that cannot be hashed."""

NOT_READ: Final = (".log", ".pyc")  # endings of files that an agent does not read
PROGRAMS: Final = ("command", "python")  # options whose first word may be a program on the PATH

_ZOO: Final = {entry.name: entry for entry in ZOO}
_SEPARATE: Final = re.compile("[:=]")


class Watch:
    """A context that notes the files that are read, and the modules that are imported."""

    _active: ClassVar[list[Watch]] = []
    _hooked = False

    def __init__(self) -> None:
        self._opened: set[str] = set()
        self._before: set[str] = set()

    def __enter__(self) -> Self:
        if not Watch._hooked:
            sys.addaudithook(_heard)  # for the rest of the process
            Watch._hooked = True
        self._before = _loaded()
        Watch._active.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        Watch._active.remove(self)

    def files(self) -> set[Path]:
        """Return the user's files that were read or imported, including modules beside a file."""
        read = self._opened.union(_loaded() - self._before)
        return {path for path in map(Path, map(os.path.abspath, read)) if _is_users(path)}


def _loaded() -> set[str]:
    """Return the files of all modules, also of those beside an agent's file."""
    own = (module for folder in folders.values() for module in folder.modules.values())
    files = (getattr(module, "__file__", None) for module in (*sys.modules.values(), *own))
    return {file for file in files if isinstance(file, str)}


def _heard(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and isinstance(arguments[0], str):
        for watch in Watch._active:
            if not arguments[2] & (os.O_WRONLY | os.O_RDWR):
                watch._opened.add(arguments[0])


def _is_users(path: Path) -> bool:
    """Whether a file belongs to neither Python, nor an installed package, nor this project."""
    if path.suffix in (".pyc", ".nbi", ".nbc") or not path.is_file():
        return False
    installed = {"site-packages", "dist-packages"}
    return installed.isdisjoint(path.parts) and not any(map(path.is_relative_to, _NOT_USERS))


_NOT_USERS: Final = (
    sysconfig.get_path("stdlib"),
    *(p for n in ("", ".agents", ".evaluation") for p in sys.modules[f"c4env{n}"].__path__),
    *("/proc", "/sys", "/dev", "/etc", "/usr"),
)


def identify(
    player: str | Callable[..., Any], name: str = "", watch: Watch | None = None
) -> dict[str, str]:
    """Return a player's identity, a mapping from names of files or objects to hashes.

    Args:
        player: a spec whose agent this process has made before, or a Python object.
        name: the name of a Python object; a spec needs none.
        watch: what was read while the agent of a spec was made.
    """
    if isinstance(player, str):
        return dict(_of_spec(player, set() if watch is None else watch.files()))
    return {name: found} if (found := _of_object(player)) else {}


def in_short(code: Identity, prompt: str = "") -> str:
    """Return one hash of an identity and a language model's prompt; "" if both are empty.

    The hash of an agent that cannot be told is never the same.
    """
    if any(value.startswith(UNKNOWN) for value in code.values()):
        return uuid.uuid4().hex[:16]
    return _hash(json.dumps([sorted(code.items()), prompt])) if code or prompt else ""


def _of_spec(spec: str, read: set[Path]) -> Iterator[tuple[str, str]]:
    name, options = split_spec(spec)
    here = registered_here()
    entry = here.get(name) or _ZOO.get(name)
    own = {o.name: o for o in options_of_entry(entry)} if isinstance(entry, Entry) else {}
    named: set[Path] = set()
    for key, text in (("", name), *options.items()):
        known = here.get(text)
        if isinstance(known, Entry):
            named.update(_named_by(known.target))
        elif known is not None:
            yield from identify(known, text).items()
        elif key in own and (own[key].kind is not str or text in own[key].choices):
            continue
        elif key or text not in _ZOO:  # an agent's name is not a file
            named.update(_named_by(text, program=key in PROGRAMS))
    files = {path.absolute(): path for path in named}
    for path in named:
        read = read.union(_imports_of(path) if path.suffix == ".py" else ())
    moved = all(path.is_absolute() for path in named)  # the working folder does not matter
    for whole in read.difference(files):
        inside = whole.is_relative_to(Path.cwd()) and not moved
        files[whole] = whole.relative_to(Path.cwd()) if inside else whole
    yield from ((str(path), _hash_of(whole)) for whole, path in files.items())
    for module in entry.needs if isinstance(entry, Entry) and not entry.network else ():
        # The agent's answers depend on this library.
        if (version := getattr(sys.modules.get(module), "__version__", None)) is not None:
            yield module, str(version)


def _named_by(text: str, program: bool = False) -> Iterator[Path]:
    """Yield the files that an agent's name or option names."""
    words = _words(text)
    on_path = program and os.path.basename(words[0]) == words[0] and shutil.which(words[0])
    if on_path and _is_users(Path(on_path)):
        yield Path(on_path)
    if (folder := Path(text.removeprefix(SELFPLAY))).is_dir():
        # Only the network of a self-play folder plays.
        found = [folder / MODEL] if (folder / MODEL).is_file() else folder.rglob("*")
        yield from (path for path in found if path.is_file() and path.suffix not in NOT_READ)
    parts = list(_parts([*words, text]))
    if "-m" in words[:-1]:
        place = words[words.index("-m") + 1].replace(".", os.sep)
        parts += [f"{place}.py", os.path.join(place, "__main__.py")]
    elif not any(map(os.path.exists, parts)) and ":" in text:
        parts.append(_file_of_module(text.partition(":")[0]))
    yield from (path for path in map(Path, parts) if path.is_file())


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text) or [text]
    except ValueError:
        return [text]


def _parts(words: list[str]) -> Iterator[str]:
    """Yield what may be paths in words: FILE.py:NAME, C:\\FILE.py, selfplay:DIR, --weights=FILE."""
    for word in dict.fromkeys(words):
        cuts = [found.start() for found in _SEPARATE.finditer(word)]
        starts, ends = [0, *(cut + 1 for cut in cuts)], [*cuts, len(word)]
        yield from (word[a:b] for a, b in itertools.product(starts, ends) if a < b)


def _file_of_module(name: str) -> str:
    """Return the file of a user's module, or ""."""
    try:
        found = importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return ""
    origin = None if found is None else found.origin
    if not origin or not _is_users(Path(origin)):
        return ""
    here = Path.cwd()
    return str(Path(origin).relative_to(here)) if Path(origin).is_relative_to(here) else origin


def _imports_of(path: Path) -> Iterator[Path]:
    """Yield the files beside a Python file that it imports, also those it imports late."""
    finder = ModuleFinder([str(path.parent), os.getcwd()], excludes=["c4env"])
    try:
        finder.run_script(str(path))
    except Exception:  # the file is not Python of this version
        return
    found = (module.__file__ for module in finder.modules.values())  # type: ignore[attr-defined]
    yield from filter(_is_users, (Path(file).absolute() for file in found if file))


@functools.lru_cache(10_000)
def _hash_of_file(path: Path, changed: int, size: int) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def _hash_of(path: Path) -> str:
    """Return the hash of a file; a process reads an unchanged file once."""
    now = path.stat()
    return _hash_of_file(path, now.st_mtime_ns, now.st_size)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]


# -- objects -----------------------------------------------------------------------------


def _of_object(thing: Any) -> str:
    """Return a hash of the code and values of a function or object, or why there is none."""
    try:
        return str(_Hasher(thing).hash(thing))[:16]
    except (Exception, RecursionError) as error:  # pickling calls the object's code
        return f"{UNKNOWN} ({type(error).__name__}: {' '.join(str(error).split())[:200]})"


class _Hasher(NumpyHasher):  # type: ignore[misc]  # joblib has no types
    """joblib's hash of a pickle, in which functions and classes of a user stand for their code.

    Random generators count as equal: an agent seeds them in ``reset``.
    """

    def __init__(self, agent: Any) -> None:
        super().__init__("sha256")
        self._agent = agent

    def save(self, thing: Any) -> None:
        """Write an object to the pickle that is hashed."""
        if id(thing) in self.memo:
            super().save(thing)
            return
        found = self._meant(thing)
        if found is None:
            super().save(thing)
        else:
            self.memoize(thing)
            super().save(found)

    def _meant(self, thing: Any) -> Any:
        """Return what stands for an object in the hash; None for the object itself."""
        if isinstance(thing, ModuleType):
            return ("module", thing.__name__)
        if isinstance(thing, _RANDOM):
            return ("random", type(thing).__name__)
        if isinstance(thing, FunctionAgent):
            return ("agent", thing.function)
        if isinstance(thing, Agent) and thing.state_attrs is not None:
            return ("agent", type(thing), thing.init_args)
        if isinstance(thing, frozenset):
            return ("frozenset", set(thing))
        if isinstance(thing, CodeType):
            code = thing.co_code, thing.co_names, thing.co_varnames, thing.co_consts
            return ("code", thing.co_name, *code)
        if isinstance(thing, type | FunctionType):
            module = sys.modules.get(thing.__module__)
            file = getattr(module, "__file__", "")
            ours = module is not None and not (file and _is_users(Path(file)))
            if ours and thing.__module__ != "__main__":
                return ("installed", f"{thing.__module__}.{thing.__qualname__}")
            return self._class(thing) if isinstance(thing, type) else self._function(thing)
        if isinstance(thing, property | staticmethod | classmethod):
            parts = [getattr(thing, each, None) for each in ("fget", "fset", "fdel", "__func__")]
            return (type(thing).__name__, *parts)
        if isinstance(thing, functools.partial):
            return ("partial", thing.func, thing.args, thing.keywords)
        return self._of_agent(thing) if callable(thing) else None

    def _of_agent(self, thing: Any) -> Any:
        """Return an agent's type and attributes, except those that the evaluation reads."""
        own = getattr(thing, "__dict__", None)
        plain = all(
            getattr(type(thing), each) in (getattr(object, each), getattr(Agent, each))
            for each in ("__reduce__", "__reduce_ex__", "__getstate__")
        )
        if own is None or not plain or not (thing is self._agent or isinstance(thing, Agent)):
            py_func = getattr(thing, "py_func", None)  # a compiled function of Numba
            return ("compiled", py_func) if isinstance(py_func, FunctionType) else None
        return ("agent", type(thing), {k: v for k, v in own.items() if k not in ("name", "nodes")})

    def _class(self, kind: type) -> Any:
        own = {
            name: value
            for name, value in vars(kind).items()
            if isinstance(value, FunctionType | classmethod | staticmethod | property)
            or not (name.startswith("__") or name == "_abc_impl")
        }
        members = {name: value for name, value in own.items() if type(value) not in _SLOTS}
        return ("class", kind.__qualname__, kind.__bases__, members)

    def _function(self, function: FunctionType) -> Any:
        """Return a function's code, its defaults, and the variables from outside that it uses."""
        cells = [cell.cell_contents for cell in function.__closure__ or () if _is_bound(cell)]
        used = {
            name: function.__globals__[name]
            for name in _names_in(function.__code__)
            if name in function.__globals__
        }
        given = function.__defaults__, function.__kwdefaults__, dict(vars(function))
        return ("function", function.__qualname__, function.__code__, *given, cells, used)


_RANDOM: Final = (
    np.random.Generator, np.random.BitGenerator, np.random.RandomState, random.Random,
)  # fmt: skip
_SLOTS: Final = (MemberDescriptorType, GetSetDescriptorType)


def _is_bound(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:  # a name of the closure that is not bound yet
        return False
    return True


def _names_in(code: CodeType) -> set[str]:
    inner = (_names_in(each) for each in code.co_consts if isinstance(each, CodeType))
    return set(code.co_names).union(*inner)
