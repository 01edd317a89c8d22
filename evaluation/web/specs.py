"""Which agents a page may ask for: the zoo with plain options, and what the owner named.

A spec that comes from a page must not import modules, open files, start programs or make
connections. So it names an agent of the zoo that needs no path, address or program, and
its options are numbers or names from a list; the owner names anything on the command line.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final, NamedTuple

from c4env.agents.registry.entries import REQUIRED, Entry, Option, require_choice
from c4env.agents.registry.registry import join_spec, options_of_entry, split_spec
from c4env.agents.registry.table import ZOO
from c4env.evaluation.errors import InvalidRequest
from c4env.evaluation.tables import shortened

MEMORY: Final = 256  # megabytes, the most that a page's agents reserve in a process together


def offered(entries: Iterable[Entry]) -> dict[str, Entry]:
    """By name, those that need no argument, and no package that is not installed."""
    return {
        entry.name: entry
        for entry in entries
        if all(option.default is not REQUIRED for option in options_of_entry(entry))
        and all(importlib.util.find_spec(module) for module in entry.needs)
    }


PLAIN: Final = offered(ZOO)


class Level(NamedTuple):
    """An opponent to choose by strength."""

    name: str
    spec: str
    summary: str


LEVELS: Final = (
    Level("Easy", "mcts:simulations=25", "tries out 25 games before each move"),
    Level("Medium", "mcts:simulations=150", "tries out 150 games before each move"),
    Level("Hard", "mcts:simulations=1000", "tries out 1,000 games before each move"),
    Level("Expert", "mcts:simulations=10000", "tries out 10,000 games before each move"),
    Level("Perfect", "perfect:ties=random", "knows the result of every move, and never errs"),
)
"""The weakest first. None of them plays the same game every time."""


def settable(entry: Entry) -> list[Option]:
    """The options a page may set: numbers, tables only so large, and texts with a list of names."""
    return [
        replace(option, high=min(option.high, MEMORY)) if option.name.endswith("_mb") else option
        for option in options_of_entry(entry)
        if option.kind is not str or option.choices
    ]


def check_spec(spec: object, named: tuple[str, ...] = ()) -> str:
    """The spec, if a page may ask for it.

    Args:
        spec: what the page sent.
        named: specs that the owner named on the command line.

    Raises:
        InvalidRequest: it may not; the message says what it may.
        InvalidSpec, InvalidValue: malformed, or a value out of range.
    """
    if not isinstance(spec, str):
        raise InvalidRequest(
            f"agent {shortened(spec, 80)!r}: expected a spec such as 'alphabeta:depth=7'"
        )
    if spec in named:
        return spec
    name = spec.replace("(", ":").partition(":")[0].strip()
    if name not in PLAIN:  # before the spec is looked at: that may import what it names
        known = ", ".join([*PLAIN, *named])
        raise InvalidRequest(f"agent {shortened(spec, 80)!r}: this page offers {known}")
    name, given = split_spec(spec)
    if name not in PLAIN:
        raise InvalidRequest(f"agent {shortened(spec, 80)!r}: expected key=value after the colon")
    options = {option.name: option for option in settable(PLAIN[name])}
    parsed: dict[str, Any] = {}
    for key, text in given.items():
        if key not in options:
            expected = ", ".join(options) or "none"
            raise InvalidRequest(
                f"agent {shortened(spec, 80)!r}: option {key!r}: expected one of {expected}"
            )
        if options[key].choices:  # an import path is none for a page
            require_choice(name, key, text, options[key].choices)
        parsed[key] = options[key].parse(name, text)
    return join_spec(name, parsed)


def reserved_mb(spec: str) -> float:
    """The megabytes that the tables of an agent may take; 0 for one the owner named."""
    name, given = split_spec(spec)
    options = options_of_entry(PLAIN[name]) if name in PLAIN else ()
    tables = [option for option in options if option.name.endswith("_mb")]
    return sum(float(given.get(option.name, option.default)) for option in tables)


def catalogue(named: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """What the page shows for choosing an agent: names, summaries, options with their ranges."""
    zoo = [
        {
            "spec": name,
            "summary": entry.summary,
            "options": [_described(option) for option in settable(entry)],
        }
        for name, entry in PLAIN.items()
    ]
    return zoo + [
        {"spec": spec, "summary": "named on the command line", "options": []} for spec in named
    ]


def _described(option: Option) -> dict[str, Any]:
    limits = {"low": option.low, "high": option.high}
    is_flag = option.kind is bool  # chosen from the two names that a spec has for it
    return {
        "name": option.name,
        "kind": option.kind.__name__,
        "default": str(option.default).lower() if is_flag else option.default,
        "help": option.help,
        "choices": ("true", "false") if is_flag else option.choices,
        **{key: limit for key, limit in limits.items() if math.isfinite(limit)},
    }
