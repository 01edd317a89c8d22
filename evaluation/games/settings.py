"""Check the settings of a run."""

from __future__ import annotations

import functools
import inspect
import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final, TypedDict

from c4env.agents.registry.imports import suggest
from c4env.errors import InvalidOption, require_integer

from ..store.record import GameRecord
from .game import Clock

Watcher = Callable[[int, int], None]

CLUSTERS: Final = ("dask", "ray")
"""The backends: workers on other machines."""

DAY: Final = 86400.0  # seconds; the longest time for a move


class SettingsByName(TypedDict, total=False):
    """The settings as keyword arguments; see :class:`Settings`."""

    seed: int
    jobs: int
    out: str | Path | None
    watch: Watcher | None
    on_game: Callable[[GameRecord], None] | None
    limit: int | None
    movetime: float | None
    margin: float
    backend: str | None
    address: str | None
    max_tokens: int | None


@dataclass(frozen=True)
class Settings:
    """The settings of a run.

    Attributes:
        seed: the same seed gives the same games for any number of jobs.
        jobs: number of games that are played at a time. This project's agents play in one process
            for each job, with one job in this process. A spec that names other people's code plays
            in a process of its own for each job. Python objects play in threads of this process,
            where they share one interpreter; each job has a copy of them.
        out: a run directory, which stores each game when it ends. The same call, or a call with
            more agents or openings, plays only missing games.
        watch: called from time to time with the number of games done and the total.
        on_game: called with each stored or finished game, before ``watch`` counts the game.
        limit: number of openings to play; None plays all openings. The seed shuffles the openings
            first, unless the caller lists them.
        movetime: limit in seconds per move. Agents with an option ``movetime`` keep to this limit,
            unless their spec sets another limit. A move that takes longer than
            ``movetime + margin`` forfeits the game. Nothing limits the time to make or reset an
            agent.
        margin: seconds by which a move may exceed ``movetime``.
        backend: ``dask`` or ``ray``, whose workers play the games; None plays on this machine.
        address: the address of a cluster; all its workers play. Without an address, dask and ray
            start ``jobs`` workers on this machine.
        max_tokens: the most tokens, in prompts and answers, that language models may use in the
            whole run. At this limit the run ends; a call with a greater limit resumes the run.
            Requests already sent are finished, so the total may exceed the limit. None sets no
            limit.

    Raises:
        InvalidOption: a setting has a wrong type or value.
    """

    seed: int = 0
    jobs: int = 1
    out: str | Path | None = None
    watch: Watcher | None = None
    on_game: Callable[[GameRecord], None] | None = None
    limit: int | None = None
    movetime: float | None = None
    margin: float = 0.1
    backend: str | None = None
    address: str | None = None
    max_tokens: int | None = None

    def __post_init__(self) -> None:
        put = functools.partial(object.__setattr__, self)
        number = require_integer
        put("seed", number("seed", self.seed, 0, "an integer 0..2**63-1", high=2**63 - 1))
        for name, of in (
            ("jobs", "games at a time"),
            ("limit", "openings"),
            ("max_tokens", "tokens"),
        ):
            if name == "jobs" or getattr(self, name) is not None:
                put(name, number(name, getattr(self, name), 1, f"a number of {of}, at least 1"))
        times = [("margin", self.margin, "at least 0")]
        if self.movetime is not None:
            times.append(("movetime", self.movetime, "more than 0"))
        for name, value, least in times:
            is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
            if not is_number or not 0 <= value <= DAY or (name == "movetime" and value == 0):
                raise InvalidOption(
                    f"{name}={value!r}: expected a number of seconds, {least} and at most {DAY:g}"
                )
            put(name, float(value))
        if self.backend is not None and self.backend not in CLUSTERS:
            raise InvalidOption(f"backend={self.backend!r}: expected {' or '.join(CLUSTERS)}")
        if self.address is not None and self.backend not in CLUSTERS:
            takers = " or ".join(CLUSTERS)
            raise InvalidOption(
                f"address={self.address!r}: only the backend {takers} takes an address"
            )
        if self.out is not None:
            if not str(self.out).strip():
                raise InvalidOption(f"out={self.out!r}: expected the name of a directory")
            put("out", Path(self.out))

    @property
    def clock(self) -> Clock | None:
        """The time limit of a move, or None without a limit."""
        return None if self.movetime is None else Clock(self.movetime, self.margin)


def settings_of(caller: Callable[..., Any], given: Mapping[str, Any]) -> Settings:
    """Return the settings that a function got as keyword arguments."""
    own = [name for name in inspect.signature(caller).parameters if name != "settings"]
    known = own + [field.name for field in fields(Settings)]
    for name in given:
        if name not in known:
            hint = suggest(name, known, f": expected {', '.join(known)}")
            raise InvalidOption(f"{caller.__name__}() has no setting {name!r}{hint}")
    return Settings(**given)
