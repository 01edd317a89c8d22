"""Write the lists of agents, commands and names into their pages.

A list stands in its page between `<!-- made: KIND NAMES -->` and `<!-- end -->`. A list of names
has its names in the first column of its table: to add a name, add a row.
"""

import functools
import importlib
import inspect
import os
import re
from argparse import Action, Namespace
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from c4env.agents.making.registry import ZOO
from c4env.agents.making.spec import description_of
from c4env.evaluation.cli import COMMANDS, module_of
from c4env.evaluation.cli.declare import Parser
from c4env.evaluation.cli.output import say
from c4env.system import usable_cores
from docs import entries
from tests.helpers.paths import ROOT

BLOCK: Final = re.compile(
    r"(<!-- made: (agents|command|names|options|shared|several) ?(\w*) -->\n)(.*?)(<!-- end -->)",
    re.S,
)
OPENINGS: Final = "[openings](../guides/play-and-rate.md#openings)"
SAID: Final = {
    "A spec such as": "[What names an agent](../cheat-sheet.md#specs).\n",
    "Columns:": "",
    "SOURCE ": "[What a SOURCE is](../guides/games-from-elsewhere.md#what-is-read).\n",
    "Before it begins": "[`--sprt`](../guides/play-and-rate.md#as-few-games-as-possible).\n",
    "Nothing is played": "[`--place`](../guides/play-and-rate.md#a-place-in-the-leaderboard).\n",
    "--all FILE": "[What `--all` writes](records.md#other-files).\n",
    "A score is": "[What a score says](../explanation/solver.md#score).\n",
    "The command finds": "",
    "For heuristics": "",
    "From each opening": "",
    "--html writes": "[The page of `--html`](../guides/keep-a-run.md#show-it).\n",
    "If SOURCE has": "[The curve of a training](../guides/ppo.md#a-curve).\n",
    "FILE ends in": "[What FILE holds](records.md#other-files), and "
    "[of which positions](../guides/train.md#labels-from-exact-play).\n",
    "With --concepts": "",
}
"""Paragraphs of a help, by how they begin, and the link that the page has instead."""
PAGES: Final = [
    page
    for page in sorted((ROOT / "docs").glob("**/*.md"))
    if BLOCK.search(page.read_text("utf-8"))
]


def execute(_: Namespace) -> None:
    for page in PAGES:
        page.write_text(made(page), encoding="utf-8")
    say(f"{len(PAGES)} pages written")


def made(page: Path) -> str:
    """The text of a page with its lists as they should be."""

    def block(found: re.Match[str]) -> str:
        if found[2] == "names":
            text = entries.table(found[4], page)
        else:
            text = "\n".join(KINDS[found[2]](found[3], page)).strip()
        return f"{found[1]}\n{text}\n\n{found[5]}"

    return BLOCK.sub(block, page.read_text(encoding="utf-8"))


def agents(_: str, page: Path) -> Iterator[str]:
    for entry in ZOO:
        name, summary, options = description_of(entry.name)
        module, _, attribute = entry.target.partition(":")
        target = getattr(importlib.import_module(module, "c4env.agents"), attribute)
        spec = f" `{name}:{entry.argument.upper()}`." if entry.argument else ""
        yield f"### {name}\n"
        said = f"{summary[0].upper()}{summary[1:].rstrip('.')}.{spec}"
        yield f"{said} {source(target, page.parent)}\n"
        own = [
            (f"`{o}`", d and f"`{d}`", s) for o, d, s in options if (o, s) not in shared_options()
        ]
        yield from table("option | default | meaning ", own)
        if others := [(o, d) for o, d, s in options if (o, s) in shared_options()]:
            listed = ", ".join(f"`{o}={d}`" if d else f"`{o}`" for o, d in others)
            yield f"[Shared options](#options-of-several-agents): {listed}.\n"


def several(_: str, page: Path) -> Iterator[str]:
    """The options that mean the same to several agents."""
    yield from table("option | meaning ", [(f"`{o}`", s) for o, s in shared_options()])


@functools.cache
def shared_options() -> list[tuple[str, str]]:
    options = [(o, s) for entry in ZOO for o, _, s in description_of(entry.name)[2]]
    return [each for each, times in Counter(options).items() if times > 1]


def command(name: str, page: Path) -> Iterator[str]:
    """What a command does: the docstring of its module, and links for what another page says."""
    for part in module_of(name).__doc__.strip().split("\n\n"):
        links = [link for begin, link in SAID.items() if part.startswith(begin)]
        if links:
            yield from filter(None, links)
        else:  # some are aligned
            yield f"```text\n{part}\n```\n" if "  " in part else f"{plain(part)}\n"


def options(name: str, page: Path) -> Iterator[str]:
    """The arguments of a command, and the names of those that other commands have too."""
    several = shared_rows()
    yield from table("argument | meaning ", [row for row in rows_of(name) if row not in several])
    if names := [row[0].split()[0].strip("`") for row in rows_of(name) if row in several]:
        listed = ", ".join(f"`{each}`" for each in names)
        yield f"[Shared options](#options-of-several-commands): {listed}."


def shared(_: str, page: Path) -> Iterator[str]:
    yield from table("option | meaning ", shared_rows())


@functools.cache
def shared_rows() -> list[tuple[str, str]]:
    """The options that are the same in several commands."""
    times = Counter(row for name in COMMANDS for row in rows_of(name))
    return [row for row in times if times[row] > 1 and row[0].startswith("`--")]


@functools.cache
def rows_of(name: str) -> list[tuple[str, str]]:
    parser = Parser(prog=f"c4 {name}")
    module_of(name).configure(parser)
    return [argument(action) for action in parser._actions[1:]]


def argument(action: Action) -> tuple[str, str]:
    value = action.metavar or "|".join(map(str, action.choices or [action.dest.upper()]))
    value = value if isinstance(value, str) else " ".join(value)
    value += " ..." if action.nargs in ("*", "+") else ""
    if action.option_strings:
        value = f"{action.option_strings[-1]} {'' if action.nargs == 0 else value}".strip()
    elif action.nargs in ("*", "?"):
        value = f"[{value}]"
    said = (action.help or "") % vars(action)
    if action.dest == "openings":  # what they are, a guide says
        said = f"{OPENINGS} {said[said.rindex('(default') :]}"
    if action.dest == "jobs":  # of this machine
        said = said.replace(f"(default {usable_cores()})", "(default: all cores)")
    return f"`{value}`", plain(said)


def table(heading: str, rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    if cells := [" | ".join(each.replace("|", r"\|") for each in row) for row in rows]:
        yield f"| {heading}|\n|{'---|' * (heading.count('|') + 1)}"
        yield "\n".join(f"| {row} |" for row in cells) + "\n"


def plain(text: str) -> str:
    return re.sub(r":\w+:`~?\.?([^`]+)`", r"`\1`", " ".join(text.split())).replace("``", "`")


def source(found: Any, folder: Path) -> str:
    file = Path(inspect.getsourcefile(inspect.unwrap(found)) or "").resolve()
    return f"[source]({Path(os.path.relpath(file, folder)).as_posix()})"


KINDS: Final = {
    "agents": agents,
    "several": several,
    "command": command,
    "options": options,
    "shared": shared,
}
