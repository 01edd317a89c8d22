"""Write the lists of agents, commands and names into the pages of the reference.

A list stands in its page between `<!-- made: KIND NAME -->` and `<!-- end -->`.
"""

import importlib
import inspect
import os
import pkgutil
import re
from argparse import Action, Namespace
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from pathlib import Path
from typing import Any, Final, Protocol

from c4env.agents.base import Agent
from c4env.agents.entries import ZOO
from c4env.agents.spec import description_of
from c4env.evaluation.cli import GROUPS, module_of
from c4env.evaluation.cli.options import Parser
from c4env.evaluation.cli.output import say
from c4env.evaluation.tables import Result
from c4env.system import usable_cores
from tests.helpers.paths import ROOT

PAGES: Final = [ROOT / "docs" / "agents.md", *sorted((ROOT / "docs" / "reference").glob("*.md"))]
BASES: Final = (Agent, Result)  # whose members a subclass does not list again
OWN: Final = {"Position", "SearchResult", "Solver", "Tournament"}  # each has a page
BLOCK: Final = re.compile(r"(<!-- made: (\w+) ?([\w.]*) -->\n).*?(<!-- end -->)", re.S)


def execute(_: Namespace) -> None:
    for page in PAGES:
        page.write_text(made(page), encoding="utf-8")
    say(f"{len(PAGES)} pages written")


def made(page: Path) -> str:
    """The text of a page with its lists as they should be."""

    def block(found: re.Match[str]) -> str:
        lines = KINDS[found[2]](found[3], page.parent)
        return f"{found[1]}\n" + "\n".join(lines).strip() + f"\n\n{found[4]}"

    return BLOCK.sub(block, page.read_text(encoding="utf-8"))


def agents(_: str, folder: Path) -> Iterator[str]:
    for entry in ZOO:
        name, summary, options = description_of(entry.name)
        module, _, attribute = entry.target.partition(":")
        target = getattr(importlib.import_module(module, "c4env.agents"), attribute)
        spec = f" `{name}:{entry.argument.upper()}`." if entry.argument else ""
        yield f"### {name}\n"
        yield f"{summary[0].upper()}{summary[1:].rstrip('.')}.{spec} {source(target, folder)}\n"
        rows = [(f"`{o}`", d and f"`{d}`", s) for o, d, s in options]
        yield from table("option | default | ", rows)


def commands(_: str, folder: Path) -> Iterator[str]:
    for group, some in GROUPS.items():
        yield f"## {group.capitalize()}\n"
        for name in some:
            module = module_of(name)
            parser = Parser(prog=f"c4 {name}")
            module.configure(parser)
            yield f"### c4 {name}\n"
            for part in module.__doc__.strip().split("\n\n"):  # some are aligned
                yield f"```text\n{part}\n```\n" if "  " in part else f"{plain(part)}\n"
            yield from table("argument | ", map(argument, parser._actions[1:]))


def argument(action: Action) -> tuple[str, str]:
    value = str(action.metavar or "|".join(map(str, action.choices or [action.dest.upper()])))
    value += " ..." if action.nargs in ("*", "+") else ""
    if action.option_strings:
        value = f"{action.option_strings[-1]} {'' if action.nargs == 0 else value}".strip()
    elif action.nargs in ("*", "?"):
        value = f"[{value}]"
    said = (action.help or "") % vars(action)
    if action.dest == "jobs":  # of this machine
        said = said.replace(f"(default {usable_cores()})", "(default: all cores)")
    return f"`{value}`", plain(said)


def table(heading: str, rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    if cells := [" | ".join(each.replace("|", r"\|") for each in row) for row in rows]:
        yield f"| {heading}|\n|{'---|' * (heading.count('|') + 1)}"
        yield "\n".join(f"| {row} |" for row in cells) + "\n"


def names(package: str, folder: Path) -> Iterator[str]:
    home = importlib.import_module(package)
    for name in home.__all__:
        found = getattr(home, name)
        if name in OWN or inspect.ismodule(found):
            yield f"- `{name}`: {first(found)}"
        else:
            yield from one(f"{package}.{name}", folder)


def one(path: str, folder: Path) -> Iterator[str]:
    found, name = pkgutil.resolve_name(path), path.rpartition(".")[2]
    classes = getattr(found, "__mro__", ())
    bare = not {Exception, dict, Protocol}.isdisjoint(classes)
    yield f"- `{name}{'' if bare else signature(found)}`: {first(found)} {source(found, folder)}"
    own = [c for c in classes if c.__module__[:6] == "c4env." and (c is found or c not in BASES)]
    for key, value in {k: v for c in reversed(own) for k, v in vars(c).items()}.items():
        function = getattr(value, "__func__", value)  # of a class method
        called = inspect.isfunction(function)
        if not (bare or key.startswith("_")) and (called or isinstance(value, property)):
            yield f"  - `{key}{signature(function) if called else ''}`: {first(function)}"


def signature(found: Any) -> str:
    asked = inspect.signature(found)
    shown = [
        each.replace(annotation=Bare.of(each.annotation, str), default=Bare.of(each.default, repr))
        for each in asked.parameters.values() if each.name not in ("self", "cls")
    ]  # fmt: skip
    returned = asked.empty if inspect.isclass(found) else Bare.of(asked.return_annotation, str)
    return str(asked.replace(parameters=shown, return_annotation=returned))


class Bare(str):
    """An annotation or a default that stands in a signature without quotes."""

    __repr__ = str.__str__

    @classmethod
    def of(cls, value: Any, shown: Callable[[Any], str]) -> Any:
        """A function by its name, since its own text has an address."""
        name = getattr(value, "__forward_arg__", None) or getattr(value, "__qualname__", None)
        name = str(value) if isinstance(value, Enum) else name or shown(value)
        return value if value is inspect.Parameter.empty else cls(name)


def first(found: Any) -> str:
    return plain(re.split(r"\n\n|(?<=[.:]) *\n", inspect.getdoc(found) or "")[0])


def plain(text: str) -> str:
    return re.sub(r":\w+:`~?\.?([^`]+)`", r"`\1`", " ".join(text.split())).replace("``", "`")


def source(found: Any, folder: Path) -> str:
    file = Path(inspect.getsourcefile(inspect.unwrap(found)) or "").resolve()
    return f"[source]({Path(os.path.relpath(file, folder)).as_posix()})"


KINDS: Final = {"agents": agents, "commands": commands, "names": names, "class": one}
