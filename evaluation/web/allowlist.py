"""What the owner of a server offers: its settings, levels, and the agents that a page may name.

    alphabeta:depth=7                allowed
    alphabeta:heuristic=os:system    refused: only the names of the zoo's heuristics
    exec:./engine                    refused, unless the owner offers it on the command line

A spec from a page must not import modules, open files, start programs or make connections.
Therefore the page may name only agents of the zoo that need no path, address or program, and set
only options that are numbers or names from a list. The server's owner may offer any other agent.
"""

from __future__ import annotations

import functools
import importlib.util
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from c4env.agents.making.options import DAY, REQUIRED, Option
from c4env.agents.making.registry import ZOO, Entry
from c4env.agents.making.spec import Spec
from c4env.errors import InvalidOption, require_integer
from c4env.evaluation.tables import shortened
from c4env.system import usable_cores

MEMORY: Final = 256  # megabytes that the page's agents in one process may reserve together


@dataclass(frozen=True)
class ServerSettings:
    """The settings of the server, chosen by its owner.

    Attributes:
        agents: specs by name, to offer besides the zoo. Only these specs may name code, files or
            addresses.
        port: port to listen on; 0 takes any free port.
        host: address to listen on, which requests may also give as the server's name. A server that
            listens beyond this machine accepts every name.
        hint: agent that gives hints; the agent must search.
        record: folder for the games of people who switch recording on in the page. Without a
            folder, the page does not offer to record.
        seconds: time limit of an answer, at most a day.
        jobs: number of processes that answer.

    Raises:
        InvalidOption: ``seconds`` is not positive, or more than a day.
    """

    agents: Mapping[str, str] = field(default_factory=dict)
    port: int = 8044
    host: str = "127.0.0.1"
    hint: str = "perfect"
    record: Path | None = Path("c4-games")
    seconds: float = 120.0
    jobs: int = usable_cores()

    def __post_init__(self) -> None:
        if not 0 < self.seconds <= DAY:  # timers have a limit
            raise InvalidOption(
                f"--seconds {self.seconds:g}: expected a positive number, at most {DAY:.0f}"
            )
        require_integer("jobs", self.jobs, 1, "a number of processes, at least 1")


@functools.cache
def plain() -> Mapping[str, Entry]:
    """Return by name the zoo's entries that need no argument, and whose packages are installed.

    The first call loads every agent's module. Where no kernel is compiled yet, that takes a minute.
    """
    return {
        entry.name: entry
        for entry in ZOO
        if all(option.default is not REQUIRED for option in entry.maker.options)
        and all(importlib.util.find_spec(module) for module in entry.needs)
    }


def is_loaded() -> bool:
    """Whether :func:`plain` has loaded every agent's module."""
    return bool(plain.cache_info().currsize)


class Level(NamedTuple):
    """A level of strength, and the opponent that plays at this level."""

    name: str
    spec: str
    summary: str


LEVELS: Final = (
    Level("Easy", "mcts:simulations=25", "plays out 25 games before each move"),
    Level("Medium", "mcts:simulations=150", "plays out 150 games before each move"),
    Level("Hard", "mcts:simulations=1000", "plays out 1,000 games before each move"),
    Level("Expert", "mcts:simulations=10000", "plays out 10,000 games before each move"),
    Level("Perfect", "perfect:ties=random", "knows the result of every move, and never errs"),
)
"""The levels, the weakest first. Every opponent uses random numbers, so its games vary."""


def check_spec(spec: object, named: Collection[str] = ()) -> str:
    """Return the spec if a page may name it.

    Args:
        spec: the value that the page sent.
        named: names of the agents that the owner gave on the command line.

    Raises:
        InvalidOption: the page may not name this agent (the message says what it may name), the
            spec is malformed, or a value is out of range.
    """
    agent = f"agent {shortened(spec, 80)!r}"
    if not isinstance(spec, str):
        raise InvalidOption(f"{agent}: expected a spec such as 'alphabeta:depth=7'")
    if spec in named:
        return spec
    if spec.partition(":")[0].strip() not in plain():  # before parse, which may import a module
        raise InvalidOption(f"{agent}: this page offers {', '.join([*plain(), *named])}")
    parsed = Spec.parse(spec)
    options = {option.name: option for option in settable(plain()[parsed.name])}
    for key in parsed.options:
        if key not in options:
            expected = ", ".join(options) or "none"
            raise InvalidOption(f"{agent}: option {key!r}: expected one of {expected}")
    values = {key: options[key].parse(parsed.name, text) for key, text in parsed.options.items()}
    return parsed.with_options(values).text


def settable(entry: Entry) -> list[Option]:
    """Return the options that a page may set: numbers, table sizes, and names from a list.

    An option that also takes an import path takes only its names here.
    """
    return [
        replace(
            option,
            high=min(option.high, MEMORY) if option.name.endswith("_mb") else option.high,
            accepts_objects=False,
        )
        for option in entry.maker.options
        if option.kind is not str or option.choices
    ]


def reserved_mb(spec: str) -> float:
    """Return the most megabytes that an agent's tables need; 0 for the owner's agents."""
    parsed = Spec.parse(spec)
    options = plain()[parsed.name].maker.options if parsed.name in plain() else ()
    tables = [option for option in options if option.name.endswith("_mb")]
    return sum(float(parsed.options.get(option.name, option.default)) for option in tables)


def catalogue(named: Mapping[str, str] = MappingProxyType({})) -> list[dict[str, Any]]:
    """Return the agents for the page's menu: names, summaries, and options with their ranges.

    Args:
        named: the specs of the owner's agents by name.
    """
    zoo = [
        {
            "spec": name,
            "summary": entry.maker.about,
            "options": [_field(option) for option in settable(entry)],
        }
        for name, entry in plain().items()
        if name not in named
    ]
    return zoo + [{"spec": name, "summary": spec, "options": []} for name, spec in named.items()]


def _field(option: Option) -> dict[str, Any]:
    """Describe an option; a flag is shown as a choice between its two names in a spec."""
    limits = {"low": option.low, "high": option.high}
    is_flag = option.kind is bool
    return {
        "name": option.name,
        "kind": option.kind.__name__,
        "default": str(option.default).lower() if is_flag else option.default,
        "help": option.help,
        "choices": ("true", "false") if is_flag else option.choices,
        **{key: limit for key, limit in limits.items() if math.isfinite(limit)},
    }
