"""Short names of agents, told apart by what differs."""

from __future__ import annotations

import os.path
from collections.abc import Sequence

from evaluation.tables import width


def labels(names: Sequence[str], columns: int) -> dict[str, str]:
    """A label for each name, at most ``columns`` of a terminal wide (8 or more), no two alike.

    Names that fit stay. Of longer specs the options that all long ones of the same agent share
    are left out, then what they begin and end with; what is still too long loses its middle.
    """
    found = {name: name for name in names}
    if all(width(name) <= columns for name in names):
        return found
    families: dict[str, list[str]] = {}
    for name in names:
        agent, _, options = name.partition(":")
        if width(name) > columns:  # the others stand as they are, and cannot be taken for one
            families.setdefault(agent, []).append(options)
    for name in names:
        agent, _, options = name.partition(":")
        if len(families.get(agent, ())) > 1 and width(name) > columns:
            found[name] = _what_differs(agent, options, families[agent], columns)
    taken: set[str] = set()
    for name, label in found.items():
        short, number = _without_middle(label, columns), 1
        while short in taken:
            number += 1
            short = _without_middle(label, columns - len(f"~{number}")) + f"~{number}"
        taken.add(short)
        found[name] = short
    return found


def _what_differs(agent: str, options: str, family: Sequence[str], columns: int) -> str:
    """An agent and those of its options that not every spec of the family has.

    Where that is too wide, keys lose their ends, then values what the family's begin and end with.
    """
    others = [other.split(",") for other in family]
    own = [o for o in options.split(",") if not all(o in other for other in others)]
    for letters in range(max(map(len, own), default=0), 0, -1):
        label = ":".join([agent, *([",".join(_short_key(o, letters) for o in own)] if own else [])])
        if width(label) <= columns:
            return label
    before = _shared_words(family)
    after = _shared_words([other[before:][::-1] for other in family])
    return _with_tail(f"{agent}:", options[before : len(options) - after], columns)


def _shared_words(texts: Sequence[str]) -> int:
    """How many letters all begin with, up to the end of a word."""
    shared = os.path.commonprefix(list(texts))  # noqa: RUF071  # letters, not folders
    return 1 + max(shared.rfind(sign) for sign in ",=/: ")


def _short_key(option: str, letters: int) -> str:
    key, equals, value = option.partition("=")
    return f"{key[:letters]}..={value}" if equals and len(key) > letters + 2 else option


def _with_tail(head: str, tail: str, columns: int) -> str:
    """What differs, and of the agent before it as much as there is room for."""
    while len(head) > 1 and width(f"{head}..{tail}") > columns:
        head = head[:-1]
    return f"{head}..{tail}"


def _without_middle(text: str, columns: int) -> str:
    if width(text) <= columns:
        return text
    head, tail = text[: len(text) // 2], text[len(text) // 2 :]
    while width(head) + width(tail) + 2 > columns:
        head, tail = (head[:-1], tail) if width(head) >= width(tail) else (head, tail[1:])
    return f"{head}..{tail}"
