"""Shorten agents' specs to labels that show the options in which the specs differ."""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from c4env.evaluation.tables import width

Parts = Mapping[str | int, str]

LABEL: Final = 24
"""The greatest width of a label, in characters."""
_LONGEST: Final = LABEL  # the most letters of a key, agent or value at the first cut


def labels(names: Sequence[str], columns: int = LABEL) -> dict[str, str]:
    """Return a distinct label for each name, at most ``columns`` (8 or more) characters wide.

    A name that fits is its own label. If several specs of one agent are too wide, their labels show
    only the options in which the specs differ (:func:`_forms`). A label that is still too wide
    loses its middle. A label that another name has already gets a number. Two dots mark an
    omission, because a label without dots could be the spec of another agent.
    """
    found = {name: name for name in names}
    long = [name for name in names if width(name) > columns]
    families: dict[str, list[str]] = {}
    for name in long:
        families.setdefault(name.partition(":")[0], []).append(name)
    differing = dict(zip(long, long, strict=True))
    for agent, family in families.items():
        if len(family) > 1:
            differing |= _what_differs(agent, family, columns)
    taken = {*names} - {*long}
    for name in long:
        label = name if differing[name] in taken else differing[name]
        short, number = _without_middle(label, columns), 1
        while short in taken:
            number += 1
            short = _without_middle(label, columns - len(f"~{number}")) + f"~{number}"
        taken.add(short)
        found[name] = short
    return found


def _what_differs(agent: str, family: Sequence[str], columns: int) -> dict[str, str]:
    """Map each spec to its longest abbreviation that fits and differs from all other labels."""
    given = [_parts(name[len(agent) + 1 :]) for name in family]
    shared = set(given[0].items()).intersection(*(parts.items() for parts in given))
    own = [dict(part for part in parts.items() if part not in shared) for parts in given]
    found: dict[str, str] = {}
    for cut in zip(*(_forms(agent, parts, own) for parts in own), strict=True):
        forms = [_marked(name, form) for name, form in zip(family, cut, strict=True)]
        for name, form in zip(family, forms, strict=True):
            if name not in found and width(form) <= columns and forms.count(form) == 1:
                found[name] = form
    return found


def _marked(name: str, form: str) -> str:
    """Add two dots after the agent's name if the form omits text but has no dots yet."""
    if form == name or form.count("..") > name.count(".."):
        return form
    agent, _, options = form.partition(":")
    return f"{agent}:..{options}"


def _parts(options: str) -> dict[str | int, str]:
    """Split options into a dictionary; the key of a word without ``=`` is the word's index."""
    found: dict[str | int, str] = {}
    for place, part in enumerate(re.split("[, ]", options)):
        key, equals, value = part.partition("=")
        found[key if equals else place] = value if equals else part
    return found


def _forms(agent: str, own: Parts, family: Sequence[Parts]) -> Iterator[str]:
    """Yield shorter and shorter forms of one spec of an agent.

    ``own`` has the options of this spec, and ``family`` those of all specs of the agent.

    1. Cut the ends of the keys. 2. Omit the keys, and cut the agent's name. 3. Keep one letter of
    each key. 4. Omit the keys, and the first and last words that all values of a key share.
    5. Also omit the middles of values.
    """

    def keyed(letters: int) -> list[str]:
        return [
            value if isinstance(key, int) else f"{_cut(key, letters)}={value}"
            for key, value in own.items()
        ]

    for letters in range(_LONGEST, 0, -1):
        yield _joined(agent, keyed(letters))
    for letters in range(_LONGEST, 0, -1):
        yield _joined(_cut(agent, letters), own.values())
    for letters in range(_LONGEST, 0, -1):
        yield _joined(_cut(agent, letters), keyed(1))
    values = [
        _own_words(value, [other[key] for other in family if key in other])
        for key, value in own.items()
    ]
    for letters in range(_LONGEST, 0, -1):
        yield _joined(_cut(agent, letters), values)
    for room in range(_LONGEST, 2, -1):
        yield _joined(
            _cut(agent, 1), [_without_middle(value.removeprefix(".."), room) for value in values]
        )


def _joined(agent: str, options: Iterable[str]) -> str:
    return f"{agent}:{','.join(options)}".rstrip(":")


def _cut(text: str, letters: int) -> str:
    return f"{text[:letters]}.." if len(text) > letters + 2 else text


def _own_words(value: str, others: Sequence[str]) -> str:
    """Remove from a value the first and last words that all values share."""
    if len({*others}) < 2:
        return value
    before = _shared_words(others)
    after = _shared_words([other[before:][::-1] for other in others])
    rest = value[before : len(value) - after]
    return f"..{rest}" if before > 2 else value[: len(value) - after]


def _shared_words(texts: Sequence[str]) -> int:
    """Count the letters that all texts share at the start, up to the end of a word."""
    shared = os.path.commonprefix(list(texts))  # noqa: RUF071  # letters, not folders
    return 1 + max(shared.rfind(sign) for sign in "=/:-_")


def _without_middle(text: str, columns: int) -> str:
    if width(text) <= columns:
        return text
    head, tail = text[: len(text) // 2], text[len(text) // 2 :]
    while width(head) + width(tail) + 2 > columns and head + tail:
        head, tail = (head[:-1], tail) if width(head) >= width(tail) else (head, tail[1:])
    return f"{head}..{tail}"
