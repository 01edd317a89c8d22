"""How a run is played, apart from who plays whom: its settings, declared and checked once.

The command line makes its options from the fields of :class:`Settings`, and functions that
take settings by name show them in their signature (:func:`takes_settings`).
"""

from __future__ import annotations

__any_board__ = True

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any, Final, TypedDict, TypeVar

from c4env.errors import require_integer
from c4env.evaluation.errors import InvalidRun
from c4env.evaluation.games.backends import check_backend
from c4env.evaluation.games.game import Clock
from c4env.evaluation.store.record import GameRecord

Watcher = Callable[[int, int], None]
F = TypeVar("F", bound=Callable[..., Any])

MAX_SECONDS: Final = 86400.0
"""A day, the longest time for a move: more is a mistake, and more than a timer can take."""


def _option(default: Any, metavar: str, kind: Callable[[str], Any], help: str) -> Any:
    """The field of a setting that is an option of the command line as well."""
    return field(default=default, metadata={"metavar": metavar, "type": kind, "help": help})


class SettingsByName(TypedDict, total=False):
    """The settings as a function takes them by name: see :class:`Settings`."""

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
    """How a run is played, apart from who plays whom.

    Attributes:
        seed: the same seed gives the same games for any number of jobs.
        jobs: worker processes; 1 plays here, or in one worker where a spec names code of
            others. Players that are objects must be picklable for more than one. Where language
            models play, they are threads of this process, and so many games can wait for answers
            at once.
        out: a run directory. Games are written there as they end; a repeated call, and one
            with more agents or openings, plays only those that are missing.
        watch: called with games done and games in all, now and then.
        on_game: called with each game that is there or ends, before ``watch`` counts it.
        limit: play only so many of the openings, the first in the order of the seed.
        movetime: seconds a move. Agents with an option ``movetime`` play by it unless their
            spec sets their own; an agent that takes longer than this and the margin forfeits.
        margin: seconds that a move may take longer.
        backend: ``loky`` (processes), ``threading``, ``serial`` (all play here, as a debugger
            needs it), or a cluster's ``dask`` or ``ray``; None is what joblib is set to
            (``joblib.parallel_config``), else loky.
        address: of a cluster, all whose workers are then used; without one, dask and ray
            start ``jobs`` workers on this machine.
        max_tokens: that language models may use, of questions and answers, earlier parts of
            the run included. The run then ends, and goes on when more are allowed. Answers
            that are under way then still count. None for any number.

    Raises:
        InvalidRun: one of them is not what it should be.
    """

    seed: int = _option(0, "N", int, "of openings and stochastic agents (default 0)")
    jobs: int = _option(
        1, "N", int,
        "worker processes, or with language models games at once (default: all cores); no "
        "game depends on it",
    )  # fmt: skip
    out: str | Path | None = _option(  # noqa: RUF009  # it makes a field
        None, "DIR", str,
        "write every game to DIR as it ends; the same command again resumes, and one with "
        "more agents or openings adds to it",
    )  # fmt: skip
    watch: Watcher | None = None
    on_game: Callable[[GameRecord], None] | None = None
    limit: int | None = _option(None, "N", int, "play only N of the openings, drawn by the seed")
    movetime: float | None = _option(
        None, "SECONDS", float,
        "time for a move: agents with an option movetime play by it, and one that takes "
        "longer than this and the margin forfeits (timed runs do not repeat exactly)",
    )  # fmt: skip
    margin: float = _option(
        0.1, "SECONDS", float, "with --movetime: how much longer a move may take (default 0.1)"
    )
    backend: str | None = _option(
        None, "NAME", str,
        "where workers run: loky (processes of this machine, the default), threading, "
        "serial, dask or ray (extras c4env[dask], c4env[ray])",
    )  # fmt: skip
    address: str | None = _option(
        None, "ADDRESS", str, "of a Dask or Ray cluster: all its workers play"
    )
    max_tokens: int | None = _option(
        None, "N", int,
        "of language models: end the run when so many tokens are used; the same command with "
        "a greater number goes on",
    )  # fmt: skip

    def __post_init__(self) -> None:
        put = functools.partial(object.__setattr__, self)
        number = functools.partial(require_integer, wrong=InvalidRun)
        put("seed", number("seed", self.seed, 0, "an integer 0..2**63-1", high=2**63 - 1))
        for name, of in (("jobs", "processes"), ("limit", "openings"), ("max_tokens", "tokens")):
            if name == "jobs" or getattr(self, name) is not None:
                put(name, number(name, getattr(self, name), 1, f"a number of {of}, at least 1"))
        if self.movetime is not None:
            _seconds("movetime", self.movetime, "more than 0")
        _seconds("margin", self.margin, "at least 0")
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


def options() -> dict[str, Field[Any]]:
    """The settings that are options of the command line, by name."""
    return {setting.name: setting for setting in fields(Settings) if setting.metadata}


def takes_settings(function: F) -> F:
    """Show the settings in the signature of a function that takes them as ``**settings``."""
    own = inspect.signature(function)
    said = [p for p in own.parameters.values() if p.kind is not p.VAR_KEYWORD]
    said += [
        inspect.Parameter(
            setting.name, inspect.Parameter.KEYWORD_ONLY,
            default=setting.default, annotation=setting.type,
        )
        for setting in fields(Settings)
        if setting.name not in own.parameters
    ]  # fmt: skip
    vars(function)["__signature__"] = own.replace(parameters=said)
    return function


def _seconds(name: str, value: object, least: str) -> None:
    """Refuse what is no number of seconds, up to a day."""
    is_bool = isinstance(value, bool)
    good = isinstance(value, int | float) and not is_bool and 0 <= value <= MAX_SECONDS
    if not good or (value == 0 and least == "more than 0"):
        raise InvalidRun(
            f"{name}={value!r}: expected a number of seconds, {least} and at most {MAX_SECONDS:g}"
        )
