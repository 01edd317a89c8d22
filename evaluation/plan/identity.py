"""Hash the code and the files that an agent depends on, to detect a changed agent.

These hashes are the agent's identity, part of the key of its stored results. So a changed agent
never gets the results of an earlier agent of the same name. An identity maps file names to hashes.
It covers the agent's Python file, the files that this file imports or names in strings, and the
programs, weights and folders in the agent's spec. This project's own code has no hash.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import itertools
import json
import os
import re
import shlex
import shutil
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Final

import numpy as np

from c4env.agents.registry.entries import Entry
from c4env.agents.registry.table import ZOO
from c4env.evaluation.errors import InvalidRun

from ...agents.base import Agent, FunctionAgent
from ...agents.network import MODEL
from ...agents.registry.registry import options_of_entry, registered_here, split_spec
from ...agents.sampling.policy_value import SELFPLAY

Identity = Mapping[str, str]
"""The hashes of an agent's parts, by name; empty for agents of this project."""

PROGRAMS: Final = ("command", "python")  # options whose first word may be a program on the PATH
NOT_READ: Final = (".log",)  # endings of files that an agent writes rather than reads


def identify(player: str | Callable[..., Any], name: str = "") -> dict[str, str]:
    """Return a player's identity, a mapping from names of files or objects to hashes.

    Args:
        player: a spec whose agent this process has made before, or a Python object.
        name: the name of a Python object; a spec needs none.

    Raises:
        InvalidRun: a file of the agent was edited after this process imported the file.
    """
    if isinstance(player, str):
        return dict(_of_spec(player))
    return {name: found} if (found := _of_object(player)) else {}


def in_short(code: Identity, prompt: str = "") -> str:
    """Return one hash of an identity and a language model's prompt; "" if both are empty."""
    return _hash(json.dumps([sorted(code.items()), prompt])) if code or prompt else ""


def _of_spec(spec: str) -> Iterator[tuple[str, str]]:
    name, options = split_spec(spec)
    here = registered_here()
    entry = here.get(name) or _ZOO.get(name)
    own = {o.name: o for o in options_of_entry(entry)} if isinstance(entry, Entry) else {}
    for key, text in (("", name), *options.items()):
        known = here.get(text)
        if isinstance(known, Entry):
            yield from _of_text(known.target)
        elif known is not None:
            yield from identify(known, text).items()
        elif key in own and (own[key].kind is not str or text in own[key].choices):
            continue
        elif key or ":" in text:  # an agent's name is not a file
            yield from _of_text(text, program=key in PROGRAMS)
    for module in entry.needs if isinstance(entry, Entry) and not entry.network else ():
        # The agent's answers depend on this library.
        if (version := getattr(sys.modules.get(module), "__version__", None)) is not None:
            yield module, str(version)


_ZOO: Final = {entry.name: entry for entry in ZOO}


def _of_text(text: str, program: bool = False) -> Iterator[tuple[str, str]]:
    """Yield names and hashes of the user's files to which an agent's name or option refers."""
    first = _words(text)[0]
    if program and os.path.basename(first) == first and (found := shutil.which(first)):
        yield first, _hash(Path(found))
    for path in _candidates(text):
        if os.path.isfile(path):
            yield from _of_source(Path(path), Path(path).parent)
    for path in _run_by_name(text):
        if os.path.isfile(path):
            yield from _of_source(Path(path), Path())
    if os.path.isdir(text.removeprefix(SELFPLAY)):
        folder = Path(text.removeprefix(SELFPLAY))  # only the network of a self-play folder plays
        files = [folder / MODEL] if (folder / MODEL).is_file() else sorted(folder.rglob("*"))
        yield from ((str(file), _hash(file)) for file in files if file.is_file())
    name, _, attribute = text.partition(":")
    meant = attribute[:1].isidentifier() and not name.endswith(".py")
    module = sys.modules.get(name) if meant else None
    if module is not None and (file := _file_of(module)):
        yield from _of_source(file, _root(module, file), named_from=_root(module, file))


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text) or [text]
    except ValueError:
        return [text]


def _candidates(text: str) -> Iterator[str]:
    """Yield parts of a text that may be file paths: FILE.py:NAME, C:\\FILE.py, --weights=FILE."""
    for word in dict.fromkeys([*_words(text), text]):
        cuts = [found.start() for found in re.finditer("[:=]", word)]
        starts, ends = [0, *(cut + 1 for cut in cuts)], [*cuts, len(word)]
        yield from (word[a:b] for a, b in itertools.product(starts, ends) if a < b)


def _run_by_name(text: str) -> Iterator[str]:
    """Yield the files of a module that a command runs with ``-m package.module``."""
    words = _words(text)
    if "-m" in words[:-1]:
        path = words[words.index("-m") + 1].replace(".", os.sep)
        yield from (f"{path}.py", os.path.join(path, "__main__.py"))


def _of_source(
    file: Path, folder: Path, named_from: Path | None = None
) -> Iterator[tuple[str, str]]:
    """Yield a file's name and hash; for a Python file, also those of imported or named files.

    Args:
        file: any file.
        folder: the folder in which to look for imports.
        named_from: the folder to which names in the result are relative; None keeps full paths.
    """
    own = file.relative_to(folder).parts[0] if _installed(folder) else ""
    loaded = {vars(m).get("__file__"): m for m in [*sys.modules.values()] if inspect.ismodule(m)}
    waiting, seen = [file], set[Path]()
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        inside = named_from is not None and named_from in path.parents
        found = _hash(path)
        yield os.path.relpath(path, named_from) if inside else os.path.normpath(path), found
        if path.suffix != ".py":
            continue
        module = loaded.get(os.path.abspath(path))
        if module and vars(module.__spec__ or module).setdefault("c4env_hash", found) != found:
            raise InvalidRun(
                f"{path} was edited after this process imported it: restart Python to use the file"
            )
        waiting += (p for p in _read_by(path, folder) if not own or own in p.parts)


def _read_by(path: Path, folder: Path) -> Iterator[Path]:
    """Yield the local files that a Python file imports or names in a string."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return
    if path.parent != folder and (package := path.with_name("__init__.py")).is_file():
        yield package
    nodes = [*ast.walk(tree)]
    texts = [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    for text in texts:
        yield from _named(text, path.parent, os.path.isfile)
    # The file may also import from folders that it names, to add them to sys.path.
    folders = [folder, *(p for text in texts for p in _named(text, path.parent, os.path.isdir))]
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias, start in itertools.product(node.names, folders):
                yield from _imported(alias.name, start)
        elif isinstance(node, ast.ImportFrom):
            starts = [path.parents[node.level - 1]] if node.level else folders
            for alias, start in itertools.product(node.names, starts):
                name = f"{node.module or ''}.{alias.name}".strip(".")
                yield from _imported(name, start, relative=node.level > 0)


def _imported(name: str, folder: Path, relative: bool = False) -> Iterator[Path]:
    """Yield the files of a module and its packages, found in ``folder`` or in loaded modules."""
    parts = name.split(".")
    if parts[0] == "c4env" and not relative:
        return
    for stop in range(1, len(parts) + 1):
        place = folder.joinpath(*parts[:stop])
        found = [p for p in (place.with_suffix(".py"), place / "__init__.py") if p.is_file()]
        module = None if found or relative else sys.modules.get(".".join(parts[:stop]))
        elsewhere = None if module is None else _file_of(module)
        if elsewhere is not None and not _installed(elsewhere):
            found.append(elsewhere)
        yield from found


def _named(text: str, folder: Path, there: Callable[[Path], bool]) -> Iterator[Path]:
    """Yield existing paths that a string names, from ``folder`` or the working directory."""
    if text.isprintable() and not text.endswith(NOT_READ):
        yield from (p for p in dict.fromkeys((folder / text, Path(text))) if there(p))


def _file_of(module: ModuleType) -> Path | None:
    """Return the file of a module; None if the module has no file or belongs to this project."""
    name, file = module.__name__, getattr(module, "__file__", None)
    if name.partition(".")[0] == "c4env" or file is None or not Path(file).is_file():
        return None
    return Path(file)


def _installed(path: Path) -> bool:
    return not {"site-packages", "dist-packages"}.isdisjoint(path.parts) or path.is_relative_to(
        _STDLIB
    )


_STDLIB: Final = Path(sysconfig.get_path("stdlib"))


def _root(module: ModuleType, file: Path) -> Path:
    """Return the folder from which Python imports a module."""
    if module.__name__.endswith(".py"):  # a file that was named by its path
        return file.parent
    return file.parents[module.__name__.count(".") + (file.name == "__init__.py")]


@functools.lru_cache(10_000)
def _hash_of_file(path: str, changed: int, size: int) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def _hash(content: Path | str | bytes) -> str:
    """Return the hash of a text, bytes or a file; a process reads an unchanged file once."""
    if isinstance(content, Path):
        now = content.stat()
        return _hash_of_file(os.path.abspath(content), now.st_mtime_ns, now.st_size)
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    return hashlib.sha256(data).hexdigest()[:16]


# -- objects -----------------------------------------------------------------------------

_NOT_SETTINGS: Final = ("name", "nodes")
_PLAIN: Final = (str, bytes, int, float, bool, type(None), os.PathLike)


def _of_object(thing: Any) -> str:
    """Return a hash of the code and values of a function or object; "" if it has neither."""
    function = thing.function if isinstance(thing, FunctionAgent) else thing
    data = b"".join(_values(function, set()))
    kind = function if inspect.isclass(function) else type(function)
    module = inspect.getmodule(kind)
    if module is not None and module.__name__ == "__main__":
        data += _source(kind)
    elif module is not None and (code := _of_module(module)):
        data += repr(code).encode()
    return _hash(data) if data else ""


def _of_module(module: ModuleType) -> list[tuple[str, str]]:
    file = _file_of(module)
    return [] if file is None else list(_of_source(file, _root(module, file)))


def _source(thing: Any) -> bytes:
    try:
        return inspect.getsource(thing).encode()
    except (OSError, TypeError):  # interactive or compiled code
        return b""


def _values(value: Any, seen: set[int]) -> Iterator[bytes]:
    """Yield the bytes of numbers, texts, arrays, weights and closures, and of collections of these.

    Other values, such as generators and connections, do not belong to an agent's identity.
    """
    if isinstance(value, _PLAIN):
        yield repr(value).encode("utf-8", "backslashreplace") + b";"
    elif isinstance(value, np.ndarray | np.generic):
        if value.dtype != object:
            yield str((value.dtype, value.shape)).encode() + value.tobytes()
    elif id(value) not in seen and not isinstance(value, type):
        seen.add(id(value))
        for key, held in _held(value):
            if found := b"".join(_values(held, seen)):
                yield b"".join(_values(key, seen)) + found


def _held(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield a pair (name or None, value) for each value that an object contains."""
    if isinstance(value, Mapping):
        yield from value.items()
    elif isinstance(value, list | tuple):
        yield from ((None, each) for each in value)
    elif hasattr(value, "detach"):  # a tensor
        yield None, value.detach().cpu().double().numpy()
    elif hasattr(value, "state_dict"):  # a network
        yield from value.state_dict().items()
    elif isinstance(value, Agent) and value.settings_are_all:
        yield from enumerate(value.made_with)
    elif isinstance(value, functools.partial):
        yield from enumerate((value.func, value.args, value.keywords))
    elif inspect.isfunction(value):
        yield from _held_by(value)
    elif callable(value):
        ours = type(value).__module__.startswith("c4env.") and not isinstance(value, Agent)
        for key, held in getattr(value, "__dict__", {}).items():
            if key not in _NOT_SETTINGS and (callable(held) or not ours):
                yield key, held


def _held_by(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield a function's name and closure; for a user's function, also its code and globals."""
    yield "name", f"{function.__module__}.{function.__qualname__}"
    yield "defaults", [function.__defaults__, function.__kwdefaults__]
    try:
        used = inspect.getclosurevars(function)
    except ValueError:  # a closure has a name that is not bound yet
        return
    yield from used.nonlocals.items()
    module = inspect.getmodule(function)
    file = None if module is None else _file_of(module)
    if function.__module__ == "__main__":  # a script changes for other reasons too
        yield "source", _source(function)
    elif module is None or file is None or _installed(file):
        return
    else:
        yield "code", _of_module(module)
    yield from used.globals.items()
