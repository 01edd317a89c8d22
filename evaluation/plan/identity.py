"""Hash the code and the files that an agent depends on, to detect a changed agent.

These hashes are the agent's identity, part of the key of its stored results. So a changed agent
never gets the results of an earlier agent of the same name. An identity maps names of files or
objects to hashes. For a spec, the identity covers the files that the spec names, and the files that
were opened or imported while the agent was made, unless they are installed. For an object, it
covers the code and the values that the object holds. This project's own code has no hash.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import random
import shlex
import shutil
import sys
import sysconfig
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from importlib.util import source_from_cache
from modulefinder import ModuleFinder
from pathlib import Path
from types import CodeType, FunctionType, GetSetDescriptorType, MemberDescriptorType, ModuleType
from typing import Any, Final, Self

import numpy as np
from joblib.hashing import NumpyHasher

from c4env.agents.registry.entries import Entry
from c4env.agents.registry.table import ZOO

from ...agents.base import Agent
from ...agents.registry.registry import options_of_entry, registered_here, split_spec
from ...agents.selfplay import MODEL

Identity = Mapping[str, str]
"""The hashes of an agent's parts, by name; empty for agents of this project."""

UNKNOWN: Final = "cannot tell"
"""The beginning of the text that stands for the hash of an object that cannot be hashed."""

PROGRAMS: Final = ("command", "python")  # options whose first word may be a program on the PATH

_ZOO: Final = {entry.name: entry for entry in ZOO}
_NOT_USERS: Final = (
    sysconfig.get_path("stdlib"),
    *(p for n in ("", ".agents", ".evaluation") for p in sys.modules[f"c4env{n}"].__path__),
    *("/proc", "/sys", "/dev", "/etc"),
    *(f"/usr/{each}" for each in ("bin", "lib", "lib64", "share", "local/bin", "local/lib")),
)


class Watch:
    """A context that notes the files that are read and the modules that are imported."""

    def __init__(self) -> None:
        self._read: set[str] = set()

    def __enter__(self) -> Self:
        _listen()
        _watching.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        _watching.remove(self)

    def heard(self, path: str) -> None:
        """Note a file; a compiled module stands for its source."""
        with suppress(ValueError):
            path = source_from_cache(path)
        self._read.add(os.path.abspath(path))

    def files(self) -> set[Path]:
        """Return the user's files among those noted."""
        return set(filter(_is_users, map(Path, self._read)))


_watching: Final[list[Watch]] = []


@functools.cache
def _listen() -> None:
    sys.addaudithook(_heard)  # for the rest of the process


def _heard(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and not arguments[2] & (os.O_WRONLY | os.O_CREAT):
        path = arguments[0]
    elif event == "import":  # an extension module has a file here
        path = arguments[1]
    else:
        return
    if isinstance(path, str | bytes):
        for watch in [*_watching]:
            watch.heard(os.fsdecode(path))


def _is_users(path: Path) -> bool:
    """Whether a file belongs to neither Python, nor an installed package, nor this project."""
    if path.suffix in (".pyc", ".nbi", ".nbc") or not path.is_file():
        return False
    installed = {"site-packages", "dist-packages"}
    # Entry points are read from the metadata of packages, which lie beside an editable install.
    metadata = path.parent.suffix in (".egg-info", ".dist-info")
    return (
        not metadata
        and installed.isdisjoint(path.parts)
        and not any(map(path.is_relative_to, _NOT_USERS))
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
    try:
        return {name: str(_Hasher("sha256").hash(player))[:16]}
    except (Exception, RecursionError) as error:  # pickling calls the object's code
        said = " ".join(str(error).split())[:200]
        return {name: f"{UNKNOWN} ({type(error).__name__}: {said})"}


def in_short(code: Identity, prompt: str = "") -> str:
    """Return one hash of an identity and a language model's prompt; "" if both are empty.

    The hash of an agent that cannot be told is never the same.
    """
    if any(value.startswith(UNKNOWN) for value in code.values()):
        return uuid.uuid4().hex[:16]
    if not code and not prompt:
        return ""
    text = json.dumps([sorted(code.items()), prompt])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _of_spec(spec: str, read: set[Path]) -> Iterator[tuple[str, str]]:
    name, options = split_spec(spec)
    here = registered_here()
    entry = here.get(name) or _ZOO.get(name)
    own = options_of_entry(entry) if isinstance(entry, Entry) else ()
    plain = {o.name for o in own if o.kind is not str or options.get(o.name) in o.choices}
    named: set[Path] = set()
    for key, text in (("", name), *options.items()):
        known = here.get(text)
        if isinstance(known, Entry):
            named.update(_named_by(known.target))
        elif known is not None:
            yield from identify(known, text).items()
        elif key not in plain and (key or text not in _ZOO):  # an agent's name is not a file
            named.update(_named_by(text, key in PROGRAMS))
    files = {path.absolute(): path for path in named}
    for path in named:
        if path.suffix == ".py":
            read |= _imports_of(path)
    moved = all(path.is_absolute() for path in named)  # the working folder does not matter
    for whole in read.difference(files):
        inside = whole.is_relative_to(Path.cwd()) and not moved
        files[whole] = whole.relative_to(Path.cwd()) if inside else whole
    for whole, path in files.items():
        with open(whole, "rb") as file:
            yield str(path), hashlib.file_digest(file, "sha256").hexdigest()[:16]
    for module in entry.needs if isinstance(entry, Entry) and not entry.network else ():
        # The agent's answers depend on this library.
        if (version := getattr(sys.modules.get(module), "__version__", None)) is not None:
            yield module, str(version)


def _named_by(text: str, program: bool = False) -> Iterator[Path]:
    """Yield the files that an agent's name or option names."""
    try:
        words = shlex.split(text) or [text]
    except ValueError:
        words = [text]
    parts = {text, text.rpartition(":")[0], text.partition(":")[2]}  # FILE.py:NAME, selfplay:DIR
    for word in words:
        parts |= {word, word.rpartition(":")[0], word.partition("=")[2]}  # --weights=FILE
    if "-m" in words[:-1]:
        place = words[words.index("-m") + 1].replace(".", os.sep)
        parts |= {f"{place}.py", os.path.join(place, "__main__.py")}
    elif (file := _file_of(text)) is not None:
        parts.add(file)
    if program and os.path.basename(words[0]) == words[0]:
        found = shutil.which(words[0])
        parts |= {found} if found and _is_users(Path(found)) else set()
    for path in map(Path, parts - {""}):
        if path.is_file():
            yield path
        elif path.is_dir():
            # Only the network of a self-play folder plays.
            inside = [path / MODEL] if (path / MODEL).is_file() else path.rglob("*")
            yield from (each for each in inside if each.suffix != ".log" and each.is_file())


def _file_of(text: str) -> str | None:
    """Return the file of the user's module that ``module:NAME`` names."""
    name, found, _ = text.partition(":")
    file = getattr(sys.modules.get(name), "__file__", None) if found else None
    if file is None or not _is_users(Path(file)):
        return None
    return os.path.relpath(file) if Path(file).is_relative_to(Path.cwd()) else str(file)


def _imports_of(path: Path) -> set[Path]:
    """Return the user's files that a Python file imports, also those it imports late."""
    finder = ModuleFinder([str(path.parent), os.getcwd()], excludes=["c4env"])
    try:
        finder.run_script(str(path))
    except Exception:  # the file is not Python of this version
        return set()
    found = (module.__file__ for module in finder.modules.values())  # type: ignore[attr-defined]
    return set(filter(_is_users, (Path(file).absolute() for file in found if file)))


# -- objects -----------------------------------------------------------------------------


class _Hasher(NumpyHasher):  # type: ignore[misc]  # joblib has no types
    """joblib's hash of a pickle, in which functions and classes of a user stand for their code.

    Random generators count as equal: an agent seeds them in ``reset``.
    """

    def save(self, thing: Any) -> None:
        """Write an object to the pickle that is hashed."""
        found = None if id(thing) in self.memo else _meant(thing)
        if found is not None:
            self.memoize(thing)
        super().save(thing if found is None else found)

    def save_reduce(self, *parts: Any, obj: Any = None, **more: Any) -> None:
        """Write an object, without the attributes of an agent that a game changes or names."""
        if callable(obj) and len(parts) > 2 and isinstance(parts[2], dict):
            state = {k: v for k, v in parts[2].items() if k not in ("name", "nodes")}
            parts = *parts[:2], state, *parts[3:]
        super().save_reduce(*parts, obj=obj, **more)


def _meant(thing: Any) -> Any:
    """Return what stands for an object in the hash; None for the object itself."""
    if isinstance(thing, ModuleType):
        return ("module", thing.__name__, *_sources(thing))
    if isinstance(thing, _RANDOM):
        return ("random", type(thing).__name__)
    if isinstance(thing, Agent) and thing.state_attrs is not None:
        return ("agent", type(thing), thing.init_args)
    if isinstance(thing, frozenset):
        return ("frozenset", set(thing))
    if isinstance(thing, CodeType):
        code = thing.co_code, thing.co_names, thing.co_varnames, thing.co_consts
        return ("code", thing.co_name, *code)
    if isinstance(thing, property | staticmethod | classmethod):
        parts = [getattr(thing, each, None) for each in ("fget", "fset", "fdel", "__func__")]
        return (type(thing).__name__, *parts)
    if isinstance(thing, type | FunctionType):
        module = sys.modules.get(thing.__module__)  # None for a module beside an agent's file
        file = getattr(module, "__file__", None)
        ours = module is not None and not (file and _is_users(Path(file)))
        if ours and thing.__module__ != "__main__":
            return ("installed", f"{thing.__module__}.{thing.__qualname__}")
        return _class(thing) if isinstance(thing, type) else _function(thing)
    if isinstance(thing, functools._lru_cache_wrapper):
        return ("cached", thing.__wrapped__)
    compiled = getattr(thing, "py_func", None) if callable(thing) else None  # by Numba
    return ("compiled", compiled) if isinstance(compiled, FunctionType) else None


def _sources(module: ModuleType) -> Iterator[bytes]:
    """Yield the contents of a user's module and of the user's files that it imports."""
    file = getattr(module, "__file__", None)
    if file is not None and _is_users(Path(file)):
        for path in sorted({Path(file).absolute(), *_imports_of(Path(file))}):
            yield path.read_bytes()


def _class(kind: type) -> Any:
    """Return a class's bases and members; slots are no members."""
    members = {
        name: value
        for name, value in vars(kind).items()
        if not (name == "_abc_impl" or isinstance(value, _SLOTS))
        and (not name.startswith("__") or callable(value) or hasattr(value, "__get__"))
    }
    return ("class", kind.__qualname__, kind.__bases__, members)


def _function(function: FunctionType) -> Any:
    """Return a function's code, its defaults, and the variables from outside that it uses."""
    used = {name: function.__globals__.get(name) for name in _names_in(function.__code__)}
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    given = function.__defaults__, function.__kwdefaults__, dict(vars(function))
    return ("function", function.__qualname__, function.__code__, *given, cells, used)


def _names_in(code: CodeType) -> set[str]:
    inner = (_names_in(each) for each in code.co_consts if isinstance(each, CodeType))
    return set(code.co_names).union(*inner)


_SLOTS: Final = (MemberDescriptorType, GetSetDescriptorType)
_RANDOM: Final = (
    np.random.Generator, np.random.BitGenerator, np.random.RandomState, random.Random,
)  # fmt: skip
