"""Expand a pattern such as ``alphabeta:depth=1..3`` into the specs of many agents."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from typing import Final

from c4env.errors import InvalidOption

from ...agents.registry.registry import with_argument
from .field import split_name

MOST: Final = 1000
"""The most agents that a pattern may name."""

_CHOICE: Final = re.compile(r"\{([^{}]*)\}|(?<==)(\d+)\.\.(\d+)(?=,|$)")
_NO_RANGE: Final = re.compile(r"(?<==)([\w.]*\w\.\.\w[\w.]*)(?=,|$)")
_RANGE: Final = re.compile(r"(\d+)\.\.(\d+)")


def expand_all(given: Iterable[str]) -> list[str]:
    """Expand the patterns among specs; a spec with an argument or a file path stays as it is.

    Raises:
        InvalidOption: a pattern is malformed, or a pattern with a name, ``name=...``, expands to
            several specs.
    """
    return [spec for each in given for spec in _expanded(each)]


def _expanded(given: str) -> list[str]:
    name, pattern = split_name(given)
    if with_argument(pattern.partition(":")[0]) or re.search(r"[/\\]|\.py\b", pattern):
        return [given]
    found = expand(pattern)
    if name == given:
        return found
    if len(found) > 1:
        raise InvalidOption(f"{given!r}: {name!r} names {len(found)} agents: expected one agent")
    return [f"{name}={found[0]}"]


def expand(pattern: str) -> list[str]:
    """Expand a pattern with ranges ``key=1..8``, ends included, or choices ``{a,b}`` into specs.

    A choice may occur anywhere and may contain ranges. The last range or choice changes fastest.
    ``alphabeta:depth=1..2,heuristic={chain,window}`` gives four specs.

    Raises:
        InvalidOption: a brace is unmatched, a choice is empty, a range descends, or there are more
            than MOST specs.
    """
    if (wrong := _NO_RANGE.search(pattern)) and not _RANGE.fullmatch(wrong[1]):
        raise InvalidOption(
            f"{pattern!r}: {wrong[1]}: expected a range of whole numbers such as 1..6"
        )
    pieces: list[list[str]] = []
    end = 0
    count = 1
    for found in _CHOICE.finditer(pattern):
        pieces.append([_literal(pattern, pattern[end : found.start()])])
        inside = found[1] if found[1] is not None else f"{found[2]}..{found[3]}"
        values = [value for part in inside.split(",") for value in _values(pattern, part.strip())]
        count *= len(values)
        if count > MOST:
            raise InvalidOption(f"{pattern!r} names too many agents: expected at most {MOST}")
        pieces.append(values)
        end = found.end()
    pieces.append([_literal(pattern, pattern[end:])])
    return ["".join(parts) for parts in itertools.product(*pieces)]


def _literal(pattern: str, text: str) -> str:
    if "{" in text or "}" in text:
        raise InvalidOption(
            f"{pattern!r}: unmatched brace: expected a choice such as depth={{1,2}}"
        )
    return text


def _values(pattern: str, part: str) -> list[str]:
    """Return the values of one item of a choice, such as ``1..3`` or ``window``."""
    if not part:
        raise InvalidOption(f"{pattern!r}: empty choice: expected a choice such as depth={{1,2}}")
    bounds = _RANGE.fullmatch(part)
    if bounds is None:
        return [part]
    low, high = int(bounds[1]), int(bounds[2])
    if high < low or high - low >= MOST:
        raise InvalidOption(
            f"{pattern!r}: {part}: expected an ascending range of at most {MOST} numbers"
        )
    return [str(value) for value in range(low, high + 1)]
