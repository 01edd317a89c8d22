"""The settings of a run, and the openings that it chooses by its seed."""

from __future__ import annotations

import functools
import hashlib
import numbers
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from c4env.errors import InvalidOption, require_integer

from ...openings import Openings as Openings
from ...openings import list_openings
from ..store.run_files import GameRecord
from .game import Clock

Watcher = Callable[[int, int], None]

CLUSTERS: Final = ("dask", "ray")
"""The backends: workers on other machines."""

DAY: Final = 86400.0  # seconds; the longest time for a move


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of a run, which are keywords of ``round_robin``, ``gauntlet``, ``play_match``.

    Attributes:
        seed: seed of the openings' order and of stochastic agents; the games depend on nothing
            else. The same seed gives the same games for any number of jobs.
        jobs: number of games that are played at a time; it does not change the games. This
            project's agents play in one process for each job, without a clock in this process for
            the first. A spec that names other people's code plays in a process of its own for each
            job. Python objects play in threads of this process, where they share one interpreter;
            each job has a copy of them.
        out: directory that keeps each game when it ends; the same call resumes the run, and one
            with more agents or openings adds games.
        watch: called from time to time with the number of games done and the total.
        on_game: called with each stored or finished game, before ``watch`` counts the game.
        limit: number of openings to play, drawn by the seed. A list of openings is taken in its
            order. None plays all openings.
        movetime: seconds for a move. Agents with an option ``movetime`` keep to this limit, unless
            their spec sets another. A move that takes longer than ``movetime + margin`` forfeits
            the game. Nothing limits the time to make or reset an agent.
        margin: seconds by which a move may exceed movetime.
        backend: play on a cluster: dask or ray. None plays on this machine.
        address: address of the cluster, all of whose workers play. Without an address, dask and
            ray start ``jobs`` workers on this machine.
        max_tokens: end the run when language models have used so many tokens, in prompts and
            answers. A call with a greater number resumes the run. Requests already sent are
            finished, so the total may exceed the limit.

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
            ("jobs", "games"),
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


def choose_openings(openings: Openings, seed: int = 0, limit: int | None = None) -> list[str]:
    """Return the openings of a run, as move strings of 1-based columns.

    Deterministic agents repeat the same game from the same position, so a run uses each opening
    once.

    Args:
        openings: as for :func:`c4env.list_openings`.
        seed: the seed that shuffles the openings. A list of move strings is not shuffled.
        limit: the greatest number of openings to take after shuffling; None takes all.

    Raises:
        InvalidOption: there is no opening, an opening is wrong or repeated, or a text is malformed.
    """
    chosen = list_openings(openings)
    if isinstance(openings, str) or not isinstance(openings, Sequence):
        chosen = shuffled(chosen, seed)
    return chosen[:limit]


def shuffled(openings: Sequence[str], seed: int) -> list[str]:
    """Return the openings in a pseudo-random order, by a hash of the seed and the opening.

    The order of two openings does not depend on the other openings in the list.
    """
    return sorted(openings, key=lambda m: hashlib.sha256(f"{seed} {m}".encode()).digest())
