"""The public names as Markdown: signature, text, arguments, errors, example, members.

griffe reads the sources without importing them, so no extra is needed. A type that a signature or a
docstring names gets an entry too, and each such name links to its entry.
"""

from __future__ import annotations

import functools
import itertools
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import griffe

from c4env.errors import InvalidOption
from tests.helpers.paths import ROOT

FOLDER: Final = ROOT / "docs" / "reference"
PAGES: Final = {  # the longest beginning of a name tells its page
    "c4env": "environments", "c4env.errors": "errors",
    "c4env.agents": "agents", "c4env.evaluation": "evaluation",
}  # fmt: skip
NAMES: Final = re.compile(r"<!-- made: names ([\w.]+) ([\w.\s]+?) -->")  # on a page
HOOKS: Final = {"choose_many", "games", "reseed"}  # of Agent: its subclasses do not list them again
SECTION: Final = re.compile(r"^(Args|Attributes|Returns|Raises|Example):\n", re.M)
ITEM: Final = re.compile(r"^(\*{0,2}\w[\w, ]*): *", re.M)
ROLE: Final = re.compile(r":(\w+):`~?([^`]+)`")
WIDTH: Final = 88  # columns of a signature in one line


@functools.cache
def sources() -> Any:
    return griffe.load("c4env", search_paths=[ROOT])


def found(path: str) -> Any:
    """The class, function or assignment behind a dotted name, or None."""
    try:
        it = sources() if path == "c4env" else sources()[path.removeprefix("c4env.")]
        return it.final_target if it.is_alias else it
    except (KeyError, griffe.AliasResolutionError, griffe.CyclicAliasError):
        return None


def public(package: str) -> list[str]:
    """The dotted names that a package or the module of errors offers, without modules."""
    home = found(package)
    names = home.exports or [name for name, it in home.classes.items()]
    paths = (f"{package}.{name}" for name in names)
    return [path for path in paths if not found(path).is_module]


def listed(page: str) -> list[str]:
    """The dotted names that the markers of a page ask for."""
    text = (FOLDER / f"{page}.md").read_text(encoding="utf-8")
    return [f"{package}.{name}" for package, names in NAMES.findall(text) for name in names.split()]


@functools.cache
def entries() -> dict[str, str]:
    """The canonical path of everything that has an entry, with its page."""
    ahead = [path for page in PAGES.values() for path in listed(page)]
    ahead += [path for package in PAGES for path in public(package)]
    pages: dict[str, str] = {}
    while ahead:
        it = found(ahead.pop(0))
        if is_entry(it) and it.canonical_path not in pages:
            home = max((p for p in PAGES if f"{it.canonical_path}.".startswith(f"{p}.")), key=len)
            pages[it.canonical_path] = PAGES[home]
            ahead += mentioned(it)
    return pages


def is_entry(it: Any) -> bool:
    """Whether something can have one; a type variable or a constant has none."""
    if it is None or it.name.startswith("_") or it.is_module or is_array(it.canonical_path):
        return False
    return not it.is_attribute or (it.annotation is None and "TypeVar" not in str(it.value))


def is_array(path: str) -> bool:
    """Whether a name is one of the aliases of NumPy arrays, which are spelled out."""
    return path.startswith("c4env.arrays.")


def spelled(annotation: Any) -> str:
    """An annotation or a default as text, with aliases of arrays and constants spelled out."""
    if not isinstance(annotation, griffe.Expr):
        return str(annotation)
    return "".join(map(shown_part, annotation.iterate(flat=True)))


def shown_part(part: Any) -> str:
    it = found(part.canonical_path) if names_in(part) else None
    constant = it is not None and it.is_attribute and isinstance(it.value, str)
    return str(it.value) if constant or (it and is_array(it.canonical_path)) else str(part)


def mentioned(it: Any) -> Iterator[str]:
    """The dotted names of types in an entry's bases, signatures and docstrings."""
    shown = [it, *(part for _, part in members(it))] if it.is_class else [it]
    expressions = [*it.bases] if it.is_class else [it.value] if it.is_attribute else []
    for part in shown:
        if part.is_attribute or part.is_function:
            expressions.append(part.annotation)
        if not part.is_attribute:
            expressions += [each.annotation for each in parameters(part)]
        for kind, target in ROLE.findall(doc(part)):
            if kind != "mod" and target.startswith("c4env."):
                yield target
    for expression in expressions:
        yield from (name.canonical_path for name in names_in(expression))


def names_in(expression: Any) -> list[Any]:
    """The names of this project in an annotation."""
    if not isinstance(expression, griffe.Expr):
        return []
    names = (part for part in expression.iterate(flat=True) if isinstance(part, griffe.ExprName))
    return [name for name in names if name.canonical_path.startswith("c4env.")]


def members(it: Any) -> list[tuple[str, Any]]:
    """The public members of a class that no other entry documents, in the order of the source."""
    bases = [base for base in reversed(it.mro()) if base.name.startswith("_")]
    parts = {name: part for each in [*bases, it] for name, part in each.members.items()}
    return [
        (name, part)
        for name, part in parts.items()
        if (name == "__call__" or not name.startswith("_")) and not part.is_alias
    ]


def doc(it: Any) -> str:
    """A docstring, of a class with the sections of its constructor; else the remark on a line."""
    if it.docstring:
        maker = it.members.get("__init__") if it.is_class else None
        text = str(maker.docstring.value) if maker and maker.docstring else ""
        sections = SECTION.search(text)
        return f"{it.docstring.value}\n\n{text[sections.start() :] if sections else ''}".strip()
    if it.is_attribute:
        line = it.filepath.read_text(encoding="utf-8").splitlines()[it.endlineno - 1]
        return re.sub(r"(fmt|type): .*", "", line.partition("  # ")[2])
    return ""


def parameters(it: Any) -> list[Any]:
    if it.is_class and "NamedTuple" in map(str, it.bases):
        return [p for p in it.attributes.values() if p.annotation and "property" not in p.labels]
    return [p for p in it.parameters if p.name not in ("self", "cls") and p.name[0] != "_"]


def anchor(heading: str) -> str:
    """The anchor of a heading, on the site and where a repository is hosted."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def heading(it: Any) -> str:
    return f"class {it.name}" if it.is_class else str(it.name)


class Page:
    """Writes the entries of one page, with links to those of all pages."""

    def __init__(self, name: str) -> None:
        self.name = name

    def entry(self, it: Any) -> Iterator[str]:
        """An entry, with the members of a class."""
        yield f"### {heading(it)}\n"
        yield from self.description(it, it)
        if not it.is_class:
            return
        own = [(name, part) for name, part in members(it) if has_heading(part.parent, name)]
        last = ""
        for name, part in sorted(own, key=lambda each: each[0] in HOOKS):
            if name in HOOKS and last not in HOOKS:
                yield "#### Hooks that environments call\n"
                yield "Most authors of an agent neither write nor call these.\n"
            yield from self.member(name, part, it)
            last = name

    def member(self, name: str, part: Any, owner: Any) -> Iterator[str]:
        yield f"#### {owner.name}.{name}\n".replace("__", r"\_\_")
        yield from self.description(part, owner)

    def description(self, it: Any, owner: Any) -> Iterator[str]:
        """Signature and docstring of a class, a member, a function or an alias."""
        yield f"```py\n{signature(it)}\n```\n"
        types = {} if it.is_attribute else {each.name: each.annotation for each in parameters(it)}
        if it.is_class:
            if bases := [link for base in it.bases if "](" in (link := self.typed(base))]:
                yield f"Derives from {', '.join(bases)}.\n"
        else:
            types["Returns"] = it.value if is_alias(it) else it.annotation
        sections = sections_of(doc(it))
        for title, text in sections:
            if title == "":
                yield f"{self.prose(text, owner)}\n"
            elif title == "Example":
                yield f"```pycon\n{text}\n```\n"
            elif title == "Returns":
                annotation = self.typed(types.pop(title))
                shown = f"{annotation}: " if "](" in annotation else ""
                yield f"**Returns** {shown}{self.prose(text, owner)}\n"
            elif title != "Attributes":
                yield f"**{title}**\n"
                for name, said in items(text):
                    kind = types.pop(name.lstrip("*"), None)
                    shown = self.linked(name, owner) if title == "Raises" else code(name)
                    yield self.item(shown, kind, said, owner)
                yield ""
        if it.is_class and (attributes := [*fields(it, dict(sections).get("Attributes", ""))]):
            yield "**Attributes**\n"
            for name, annotation, said in attributes:
                yield self.item(code(name), annotation, said, owner, name not in types)
                types.pop(name, None)
            yield ""
        names = {n.canonical_path: n for kind in types.values() for n in names_in(kind)}
        names.pop(owner.canonical_path, None)
        if links := [link for name in names.values() if "](" in (link := self.typed(name))]:
            yield f"Types: {', '.join(dict.fromkeys(links))}.\n"
        if it is owner:
            file = Path(os.path.relpath(it.filepath.resolve(), FOLDER)).as_posix()
            yield f"[source]({file})\n"

    def item(self, shown: str, annotation: Any, said: str, owner: Any, always: bool = False) -> str:
        """A line on an argument, a field or an error; a type stands there if it has an entry."""
        typed = self.typed(annotation) if annotation else ""
        kind = f" ({typed})" if "](" in typed or (always and typed) else ""
        text = self.prose(said, owner).replace("\n", "\n  ").replace("\n  \n", "\n\n")
        return f"- {shown}{kind}{': ' if said else ''}{text}"

    def typed(self, annotation: Any) -> str:
        """An annotation as code, in which the names that have an entry are links."""
        links = {n.canonical_path: n for n in names_in(annotation) if self.target(n.canonical_path)}
        if len(links) == 1:  # the whole is the link
            return f"[`{spelled(annotation)}`]({self.target(next(iter(links)))})"
        if not links:
            return f"`{spelled(annotation)}`"
        pieces = ""
        for part in annotation.iterate(flat=True):
            target = self.target(part.canonical_path) if isinstance(part, griffe.ExprName) else ""
            pieces += f"`[`{part}`]({target})`" if target else shown_part(part)
        return f"`{pieces}`".replace("``", "")

    def target(self, path: str) -> str:
        """The place of an entry as a link from this page; empty for what has none."""
        it = found(path)
        page = entries().get(it.canonical_path) if it else None
        if page is None:
            return ""
        return f"{'' if page == self.name else f'{page}.md'}#{anchor(heading(it))}"

    def prose(self, text: str, owner: Any) -> str:
        """A text with its references as links."""
        text = ROLE.sub(lambda role: self.linked(role[2], owner, role[1]), text)
        return text.replace("``", "`")

    def linked(self, name: str, owner: Any, role: str = "class") -> str:
        """A name in a docstring: a member of the class, an entry, a member of an entry, or code."""
        kind, _, member = name.rpartition(".")
        if role in ("meth", "attr") and not kind:
            return self.to_member([owner, *owner.mro()], name, name)
        if path := last_names().get(member):
            return f"[`{member}`]({self.target(path)})"
        if path := last_names().get(kind.rpartition(".")[2]):
            return self.to_member([found(path)], member, f"{found(path).name}.{member}")
        return code(name)

    def to_member(self, owners: list[Any], name: str, shown: str) -> str:
        """A link to a member of the first class that has a heading for it, or code."""
        for owner in owners:
            place = self.target(owner.canonical_path)
            if place and has_heading(owner, name):
                return f"[`{shown}`]({place.partition('#')[0]}#{anchor(f'{owner.name}.{name}')})"
        return code(shown)


@functools.cache
def last_names() -> dict[str, str]:
    """The path of each entry by the last part of its name."""
    return {path.rpartition(".")[2]: path for path in reversed(entries())}


def has_heading(owner: Any, name: str) -> bool:
    """Whether a class has a heading for a member: a method or property with a docstring."""
    part = owner.members.get(name)
    shown = part and part.docstring and (part.is_function or "property" in part.labels)
    return bool(shown and (name not in HOOKS or owner.name == "Agent"))


def is_alias(it: Any) -> bool:
    return bool(it.is_attribute and it.parent.is_module)


def fields(it: Any, section: str) -> Iterator[tuple[str, Any, str]]:
    """The fields of a class with type and text, first those that the docstring describes."""
    said = dict(items(section))
    own = [n for n, p in members(it) if p.is_attribute and p.annotation and n not in said]
    for name in [*said, *own]:
        part = it.members.get(name)
        if part is None or "property" not in part.labels:
            text = said.get(name) or doc(part)
            if text or names_in(part.annotation) or "TypedDict" in map(str, it.bases):
                yield name, part and part.annotation, text


def code(names: str) -> str:
    return ", ".join(f"`{name}`" for name in names.split(", "))


def sections_of(text: str) -> list[tuple[str, str]]:
    """A docstring in pairs of title and text, without indentation; the first title is empty."""
    first, *rest = SECTION.split(text)
    pairs = [("", first.strip())] if first.strip() else []
    for title, body in zip(rest[::2], rest[1::2], strict=True):
        inside = re.match(r"(?: {4}.*\n|\n)*(?: {4}.*)?", body)[0]
        pairs.append((title, re.sub(r"^ {4}", "", inside, flags=re.M).strip()))
        if after := body[len(inside) :].strip():
            pairs.append(("", after))
    return pairs


def items(text: str) -> list[tuple[str, str]]:
    """The names and texts of a section such as Args."""
    _, *rest = ITEM.split(text)
    texts = (re.sub(r"^ +", "", each, flags=re.M).strip() for each in rest[1::2])
    return [*zip(rest[::2], texts, strict=True)]


def signature(it: Any) -> str:
    """A declaration as Python would write it, in one line or with a line for each parameter."""
    if it.is_attribute:
        whole = spelled(it.value if is_alias(it) else it.annotation)
        return f"{it.name}{' = ' if is_alias(it) else ': '}{whole}"
    start = f"class {it.name}" if it.is_class else it.name
    bases = {*map(str, it.bases)} if it.is_class else set()
    if bases & {"Protocol", "TypedDict"} or "errors" in it.path.split("."):
        return start
    shown, parts = [], parameters(it)
    for before, each in itertools.pairwise([None, *parts, None]):
        kinds = [part and part.kind.value for part in (before, each)]
        if kinds[0] == "positional-only" != kinds[1]:
            shown.append("/")
        if kinds[1] == "keyword-only" and kinds[0] not in ("keyword-only", "variadic positional"):
            shown.append("*")
        if each:
            shown.append(parameter(each))
    end = f" -> {spelled(it.annotation)}" if it.is_function and it.annotation else ""
    line = f"{start}({', '.join(shown)}){end}"
    if len(line) <= WIDTH:
        return line
    return f"{start}(\n" + "".join(f"    {each},\n" for each in shown) + f"){end}"


def parameter(it: Any) -> str:
    """A parameter, or a field of a named tuple, with type and default."""
    star = {"variadic positional": "*", "variadic keyword": "**"}.get(it.kind.value, "")
    value = it.default if isinstance(it, griffe.Parameter) else it.value
    annotation = f": {spelled(it.annotation)}" if it.annotation else ""
    equals = " = " if annotation else "="
    default = f"{equals}{spelled(value)}" if value is not None and not star else ""
    return f"{star}{it.name}{annotation}{default}"


def named(argument: str, page: Path) -> Iterator[str]:
    """The entries of the names in a marker: a package, then names in it."""
    package, *names = argument.split()
    for name in names:
        it = found(f"{package}.{name}")
        if it is None:
            raise InvalidOption(f"{page.name} lists {name!r}: expected a name in {package}")
        yield from Page(page.stem).entry(it)


def others(_: str, page: Path) -> Iterator[str]:
    """All other entries of a page: public names in no marker, and the types that are named."""
    shown = {found(path).canonical_path for path in listed(page.stem)}
    here = (path for path, place in entries().items() if place == page.stem)
    for path in sorted({*here} - shown, key=lambda path: path.rpartition(".")[2].lower()):
        yield from Page(page.stem).entry(found(path))
