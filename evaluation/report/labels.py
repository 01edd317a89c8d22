"""Short names for figures, which show what differs between agents."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from c4env.evaluation.tables import width

LABEL: Final = 28
"""The greatest width of a label, in characters."""
_PARTS: Final = re.compile(r"[^:,/ ]*[:,/ ]|[^:,/ ]+")
_KEY: Final = re.compile(r"\b\w+=")


def labels(names: Iterable[str], columns: int = LABEL) -> dict[str, str]:
    """Return a distinct label for each name, at most ``columns`` characters wide.

    A name that fits is its own label. Of longer names with one beginning, such as
    ``alphabeta:``, the label leaves out what all of them share; if the rest is too long, the names
    of options; and if that is too long, the middle, which two dots mark.
    """
    names = list(dict.fromkeys(names))
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(_PARTS.findall(name)[0] if name else "", []).append(name)
    shown = {name: name for name in names}
    for group in groups.values():
        if max(map(width, group)) > columns:
            shown.update(zip(group, _short(group, columns), strict=True))
    taken = {name for name in names if shown[name] == name and width(name) <= columns}
    for name in names:
        if name not in taken:
            shown[name] = _distinct(shown[name], taken, columns)
            taken.add(shown[name])
    return shown


def _short(group: Sequence[str], columns: int) -> list[str]:
    """Leave out what the names share, then keys; cut the middle of what is still too long."""
    forms: list[Callable[[str], str]] = [lambda name: name, lambda name: _KEY.sub("", name)]
    rests = _differing(group)
    for form in forms:
        short = [form(rest) or name for rest, name in zip(rests, group, strict=True)]
        if max(map(width, short)) <= columns and len({*short}) == len(short):
            return short
    return [rest or name for rest, name in zip(rests, group, strict=True)]


def _differing(group: Sequence[str]) -> list[str]:
    """Return the names without the parts that all of them have at the beginning and the end."""
    parts = [_PARTS.findall(name) for name in group]
    if len(parts) < 2:
        return list(group)
    start = _shared(parts)
    parts = [part[start:] for part in parts]
    end = _shared([part[::-1] for part in parts])
    return ["".join(part[: len(part) - end]).strip(" ,:/") for part in parts]


def _shared(lists: Sequence[Sequence[str]]) -> int:
    """Return how many first items the lists share."""
    count = 0
    for items in zip(*lists, strict=False):
        if len({item.rstrip(",") for item in items}) > 1:
            break
        count += 1
    return count


def _distinct(text: str, taken: Iterable[str], columns: int) -> str:
    """Return the text, without its middle or with a number if it is too wide or taken."""
    short, number = _without_middle(text, columns), 1
    while short in taken:
        number += 1
        short = _without_middle(text, columns - len(f"~{number}")) + f"~{number}"
    return short


def _without_middle(text: str, columns: int) -> str:
    if width(text) <= columns:
        return text
    head, tail = text[: len(text) // 2], text[len(text) // 2 :]
    while width(head) + width(tail) + 2 > columns and head + tail:
        head, tail = (head[:-1], tail) if width(head) >= width(tail) else (head, tail[1:])
    return f"{head}..{tail}"
