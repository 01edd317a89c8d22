"""The lists of names in the pages of the reference, and the sidebar of the site.

A list is a table between ``<!-- made: names -->`` and ``<!-- end -->``: a name, with a link to its
source, and what it is, in one line. ``python -m tests.makers reference`` writes the links and the
lines, and ``docs/conf.py`` puts the whole text of each name below the table of the site.
"""

from __future__ import annotations

import ast
import os
import re
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
INDEX: Final = ROOT / "docs" / "index.md"
NAMES: Final = re.compile(r"<!-- made: names -->\n(.*?)<!-- end -->", re.S)
ROW: Final = re.compile(r"^\| (?:\[)?`([\w.]+)`(?:\]\(\S+\))? \| ?(.*?) ?\|$", re.M)
PAGE_LINK: Final = re.compile(r"\]\((?!https?:)([^)#\s]+\.(?:md|ipynb))\)")


def sidebar() -> dict[str, list[str]]:
    """The pages of each section of the index, by their paths without suffix.

    A page stands in the section that first links to it as a whole, without an anchor.
    """
    found: dict[str, list[str]] = {}
    known: set[str] = set()
    for section in INDEX.read_text("utf-8").split("\n## ")[1:]:
        caption, _, text = section.partition("\n")
        for target in PAGE_LINK.findall(text):
            path = (INDEX.parent / target).resolve().relative_to(ROOT).with_suffix("").as_posix()
            if path not in known:
                known.add(path)
                found.setdefault(caption, []).append(path)
    return found


def names_of(page: str) -> list[str]:
    """The dotted names that a page lists."""
    return [name for listed in NAMES.findall(page) for name, _ in ROW.findall(listed)]


def file_of(module: str) -> Path:
    """The source file of a module of this project."""
    parts = module.split(".")
    parts = parts[1:] if parts[1:2] in (["agents"], ["evaluation"]) else parts
    folder = ROOT.joinpath(*parts)
    return folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")


def definition(name: str) -> tuple[Path, ast.stmt, ast.stmt | None]:
    """The file that defines a dotted name, its statement, and the statement after it.

    Nothing is imported, so no extra is needed. A name is followed through the modules that import
    it, and a kernel to its Python source.
    """
    module, _, last = name.rpartition(".")
    path = file_of(module)
    body: list[ast.stmt] = []
    for node in ast.parse(path.read_text("utf-8")).body:
        body += [node, *node.body] if isinstance(node, ast.If) else [node]
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if (alias.asname or alias.name) == last:
                    return definition(f"{node.module}.{alias.name}")
        elif isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == last:
            return path, node, after
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(target, ast.Name) and target.id == last for target in targets):
                source = re.search(r"^\w+ = kernel\(.*\)\((\w+\.\w+)\)$", ast.unparse(node))
                return definition(f"c4env.{source[1]}") if source else (path, node, after)
    raise LookupError(f"{name}: {path} does not define or import it")


def directive(name: str) -> str:
    """The directive of Sphinx that documents a name."""
    _, node, _ = definition(name)
    if isinstance(node, ast.FunctionDef):
        return "autofunction"
    if isinstance(node, ast.ClassDef):
        return "autoexception" if name.startswith("c4env.errors.") else "autoclass"
    return "autodata"


def summary(name: str) -> str:
    """The first sentence of a name's docstring; empty for a constant without one."""
    _, node, after = definition(name)
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        text = ast.get_docstring(node)
    elif isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
        text = str(after.value.value)
    else:
        text = None
    first = " ".join((text or "").strip().partition("\n\n")[0].split())
    first = re.sub(r":\w+:`~?\.?([^`]+)`", r"`\1`", first).replace("``", "`")
    return re.split(r"(?<=[.!?]) (?=[A-Z`])", first)[0].removesuffix(".")


def table(listed: str, page: Path) -> str:
    """The table of the names that a text lists, with their lines as they are now."""
    lines = ["| name | content |", "|---|---|"]
    for name, said in ROW.findall(listed):
        path, _, _ = definition(name)
        source = Path(os.path.relpath(path, page.resolve().parent)).as_posix()
        content = summary(name).replace("|", r"\|") or said
        lines.append(f"| [`{name}`]({source}) | {content} |")
    return "\n".join(lines)


def with_entries(page: str, options: dict[str, str]) -> str:
    """A page as the site shows it: names lead to their entries, which follow the table."""

    def entries(found: re.Match[str]) -> str:
        listed = ROW.findall(found[1])
        rows = [f"| {{py:obj}}`~{name}` | {said} |" for name, said in listed]
        blocks = [f".. {directive(name)}:: {name}\n{options.get(name, '')}" for name, _ in listed]
        head = "| name | content |\n|---|---|\n"
        return head + "\n".join(rows) + "\n\n```{eval-rst}\n" + "\n".join(blocks) + "```\n"

    return NAMES.sub(entries, page)
