"""The code that an agent consists of: after an edit of it a kept run is another run."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final

from c4env.agents.making.load import imports_of, users_modules
from c4env.agents.making.options import Option
from c4env.agents.making.spec import Spec
from c4env.agents.making.zoo import find, third_parties
from c4env.evaluation.store.header import Identity, hash_files

_IMPORT_PATH: Final = re.compile(r"([A-Za-z_]\w*)(\.\w+)*:[A-Za-z_]\w*(:|$)")
_WITH_OPTIONS: Final = re.compile(r".+:[A-Za-z_]\w*:[A-Za-z_]\w*=")


def files_of(spec: Spec) -> list[Path]:
    """Return the files that a spec names; after an edit of one it is another agent.

    - the file of ``FILE.py:NAME``, and a file that is an option's whole value, or its default;
    - the users' modules that these files import, wherever Python finds them;
    - the loaded modules of a package that an import path or an entry point names;
    - the files in a :data:`~c4env.agents.making.options.Folder`, without logs;
    - of a :data:`~c4env.agents.making.options.Command`, the program and the files among the words.

    A :data:`~c4env.agents.making.options.WrittenFile` is none of them.
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
    files = {path.absolute() for path in paths if os.path.isfile(path)}
    for file in [file for file in files if file.suffix == ".py"]:
        path = [os.path.dirname(os.path.realpath(file)), *sys.path]
        files.update(map(Path, users_modules(imports_of(str(file)), path).values()))
    return sorted(files)


def _files_in(option: Option, text: str) -> Iterator[Path]:
    """Yield what may be files that belong to the agent in the text of an option."""
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
        program, *_ = words = shlex.split(text)
        yield Path(shutil.which(program) or "")
        for word in words:  # of --net=FILE, the file; of a folder, what Python runs
            yield from (Path(word), Path(word.split("=", 1)[-1]), Path(word, "__main__.py"))
        modules = [word for flag, word in pairwise(words) if flag == "-m"]
        yield from map(Path, users_modules(modules, [os.getcwd(), *sys.path]).values())


def identity_of(files: Iterable[Path], start: str) -> Identity:
    """Return the identity of the agent that consists of files, by their paths from a folder."""
    paths = (Path(start, file) for file in files)
    named = {_name(path, start): path for path in paths if os.path.isfile(path)}
    return {"files": hash_files(named)} if named else {}


def _name(path: Path, start: str) -> str:
    """Return a file's path from a folder, so that both can move; a program's far away is whole."""
    is_far = path.drive != Path(start).drive or os.path.commonpath((path, start)) == path.anchor
    return str(path) if is_far else os.path.relpath(path, start)
