"""How a run is played, apart from who plays whom: its settings, declared and checked once."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

from evaluation.errors import InvalidRun
from evaluation.games.backends import check_backend
from evaluation.games.game import Clock

Watcher = Callable[[int, int], None]

MAX_SEED: Final = 2**63 - 1


@dataclass(frozen=True)
class Settings:
    """How a run is played, apart from who plays whom.

    Attributes:
        seed: the same seed gives the same games for any number of jobs.
        jobs: worker processes; 1 plays here. Players that are objects must be picklable
            for more than one. Where language models play, they are threads of this process,
            and so many games can wait for answers at once.
        out: a run directory. Games are written there as they end; a repeated call plays
            only those that are missing.
        watch: called with games done and games in all, now and then.
        limit: play only so many of the openings, the first in the order of the seed.
        movetime: seconds a move. Agents with an option ``movetime`` play by it unless their
            spec sets their own; an agent that takes longer than this and the margin forfeits.
        margin: seconds that a move may take longer.
        backend: ``loky`` (processes), ``threading``, ``serial``, or a cluster's ``dask`` or
            ``ray``; None is what joblib is set to (``joblib.parallel_config``), else loky.
        address: of a cluster, all whose workers are then used; without one, dask and ray
            start ``jobs`` workers on this machine.
        max_tokens: that language models may use, of questions and answers, earlier parts of
            the run included. The run then ends, and goes on when more are allowed. Answers
            that are under way then still count. None for any number.

    Raises:
        InvalidRun: one of them is not what it should be.
    """

    seed: int = 0
    jobs: int = 1
    out: str | Path | None = None
    watch: Watcher | None = None
    limit: int | None = None
    movetime: float | None = None
    margin: float = 0.1
    backend: str | None = None
    address: str | None = None
    max_tokens: int | None = None

    def __post_init__(self) -> None:
        put = functools.partial(object.__setattr__, self)
        put("seed", _whole("seed", self.seed, 0, MAX_SEED, "an integer 0..2**63-1"))
        jobs = "a number of processes, at least 1"
        put("jobs", _whole("jobs", self.jobs, 1, MAX_SEED, jobs))
        if self.limit is not None:
            openings = "a number of openings, at least 1"
            put("limit", _whole("limit", self.limit, 1, MAX_SEED, openings))
        if self.max_tokens is not None:
            tokens = "a number of tokens, at least 1"
            put("max_tokens", _whole("max_tokens", self.max_tokens, 1, MAX_SEED, tokens))
        if self.movetime is not None:
            _seconds("movetime", self.movetime, more_than=0)
        _seconds("margin", self.margin)
        check_backend(self.backend, self.address)
        if self.out is not None:
            if not str(self.out).strip():
                raise InvalidRun(f"out={self.out!r}: expected the name of a directory")
            put("out", Path(self.out))

    @classmethod
    def of(cls, caller: str, given: Mapping[str, Any]) -> Settings:
        """The settings given to a function by name.

        Raises:
            InvalidRun: there is none of a name, or one is not what it should be.
        """
        known = [field.name for field in fields(cls)]
        for name in given:
            if name not in known:
                raise InvalidRun(f"{caller}() has no setting {name!r}: expected {', '.join(known)}")
        return cls(**given)

    @property
    def clock(self) -> Clock | None:
        """How long a move may take, if that is limited."""
        return None if self.movetime is None else Clock(self.movetime, self.margin)


def _whole(name: str, value: object, low: int, high: int, expected: str) -> int:
    """A whole number in range, NumPy's among them.

    Raises:
        InvalidRun: it is not one.
    """
    try:
        number = -1 if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = -1
    if not low <= number <= high:
        raise InvalidRun(f"{name}={value!r}: expected {expected}")
    return number


def _seconds(name: str, value: object, more_than: float | None = None) -> None:
    """Refuse what is no number of seconds.

    Raises:
        InvalidRun: it is not one.
    """
    good = isinstance(value, int | float) and not isinstance(value, bool)
    good = good and 0 <= value < math.inf and value != more_than  # type: ignore[operator]
    if not good:
        wanted = "more than 0" if more_than is not None else "at least 0"
        raise InvalidRun(f"{name}={value!r}: expected a number of seconds, {wanted}")
