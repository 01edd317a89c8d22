"""The hashes of an agent's code. If the code is edited, a stored run no longer accepts the agent.

These files are hashed, each by its name and content:

- the file that a spec names, as ``FILE.py:NAME``, and a file that is the whole value or the default
  of an option; if an option is an agent, also the files of that agent;
- the user's modules that the agent's process has loaded when it has made the agent;
- the files in a :data:`~c4env.agents.making.options.Folder`, without logs;
- the program of a :data:`~c4env.agents.making.options.Command`, the files among its words, and the
  modules that these files import, because no process of this project loads them.

These files are not hashed: a :data:`~c4env.agents.making.options.WrittenFile`, installed packages,
this project, and the files that a move imports or opens. Code that loads an agent again compares
the hashes (:func:`require_same`): a process that starts again, a worker of a cluster, and the
loading of a submission or program for each game.
"""

from __future__ import annotations

import os
import platform
import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

from c4env.agents.making.import_path import file_of, imports_of, modules_in
from c4env.agents.making.options import Option
from c4env.agents.making.registry import find, third_parties
from c4env.agents.making.spec import Spec
from c4env.errors import AgentChanged
from c4env.evaluation.records.header import Contents, hash_files
from c4env.system import is_users

_IMPORT_PATH: Final = re.compile(r"([A-Za-z_]\w*)(\.\w+)*:[A-Za-z_]\w*(:|$)")
_WITH_OPTIONS: Final = re.compile(r".+:[A-Za-z_]\w*:[A-Za-z_]\w*=")


def files_of(spec: Spec) -> list[Path]:
    """Return the files that a spec names, and the loaded modules of packages that it names.

    Import paths and entry points name packages. The packages may be installed.
    """
    declared = {option.name: option for option in spec.maker.options}
    paths = [Path(spec.name.rpartition(":")[0])]
    points = third_parties().get(spec.name, ())
    code = [spec.name, *(point.value for point in points), *spec.options.values()]
    packages = {found[1] for text in code if (found := _IMPORT_PATH.match(text))} - {"c4env"}
    for module_name, module in [*sys.modules.items()]:
        if module_name.partition(".")[0] in packages:
            paths.append(Path(getattr(module, "__file__", None) or ""))
    defaults = {key: option.default for key, option in declared.items() if option.default}
    for key, value in (defaults | {**spec.options}).items():
        if isinstance(value, str):
            paths += _files_in(declared.get(key, Option(key, str, "")), value)
    return sorted({path.absolute() for path in paths if os.path.isfile(path)})


def _files_in(option: Option, text: str) -> Iterator[Path]:
    """Yield the paths in the text of an option that may be files of the agent."""
    if option.kind is not str or text in option.choices or option.writes:
        return
    yield from (Path(text), Path(text.rpartition(":")[0]))  # FILE and FILE.py:NAME
    inner, _, argument = text.partition(":")
    entry = find(inner)
    if (argument and entry and (entry.argument or "=" in argument)) or _WITH_OPTIONS.match(text):
        yield from files_of(Spec.parse(text))  # an agent as an option, as in puct:selfplay:DIR
    elif option.reads == "folder":
        yield from (path for path in Path(text).rglob("*") if path.suffix != ".log")
    elif option.reads == "command":
        yield from _files_of_command(shlex.split(text))


def _files_of_command(words: Sequence[str]) -> Iterator[Path]:
    """Yield the program of a command, possible files among its words, and their imports."""
    yield Path(shutil.which(words[0]) or "")
    folders = ["", *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    modules = [word for flag, word in pairwise(words) if flag == "-m"]
    yield from map(Path, modules_in(folders, modules).values())
    for word in words:  # a file, the file of --net=FILE, or what Python runs in a folder
        for file in (Path(word), Path(word.split("=", 1)[-1]), Path(word, "__main__.py")):
            yield file
            if file.suffix == ".py" and os.path.isfile(file):
                beside = os.path.dirname(os.path.realpath(file))
                yield from map(Path, modules_in([beside, *folders], imports_of(str(file))).values())


def users_files() -> list[Path]:
    """Return the user's files among the modules that this process has loaded."""
    files = {file_of(module) for module in [*sys.modules.values()]}
    return [Path(file) for file in files if file and is_users(file)]


def contents_of(files: Iterable[Path], start: str) -> Contents:
    """Return the hashes of files by their paths from a folder, so that the folder can move."""
    paths = (Path(start, file) for file in files)
    named = {_name(path, start): path for path in paths if os.path.isfile(path)}
    return {name: hash_files({"": path}) for name, path in named.items()}


def require_same(agent: str, found: Contents, begun: Contents) -> None:
    """Check that the files of an agent have not changed since its run began.

    Raises:
        AgentChanged: a file has changed.
    """
    if begun and (other := sorted(f for f in {*begun, *found} if begun.get(f) != found.get(f))):
        raise AgentChanged(
            f"agent {agent!r} on {platform.node()}: {', '.join(other)} changed since the run began"
        )


def _name(path: Path, start: str) -> str:
    """Return a file's path from a folder, so that both can move, or its whole path if far away."""
    is_far = path.drive != Path(start).drive or os.path.commonpath((path, start)) == path.anchor
    return str(path) if is_far else os.path.relpath(path, start)
