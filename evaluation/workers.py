"""Plays games in worker processes; they come back as they end."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Generator, Mapping, Sequence
from typing import Any

import joblib

import agents
from agents.base import Agent
from agents.registry import registered_here
from evaluation.field import Player
from evaluation.match import Policy, play_game
from evaluation.record import GameRecord
from evaluation.schedule import Fixture


def play_all(
    field: Mapping[str, Player], fixtures: Sequence[Fixture], seed: int, jobs: int
) -> Generator[GameRecord, None, None]:
    """The games as they end; the first is played here while the workers start."""
    mine = registered_here() if jobs > 1 else {}
    tasks = [
        ((field[pair[0]], field[pair[1]]), pair, opening, seed, mine) for pair, opening in fixtures
    ]
    if jobs == 1 or len(tasks) < 2:
        yield from (_play(*task) for task in tasks)
        return
    others = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered")(
        joblib.delayed(_play)(*task) for task in tasks[1:]
    )
    try:
        yield _play(*tasks[0])
        # Not `yield from`, which would close it outside the filter below.
        for game in others:  # noqa: UP028
            yield game
    finally:
        with warnings.catch_warnings():  # of a run that is stopped: the games go on another time
            warnings.filterwarnings("ignore", r"(?s).*\d tasks (have|which)")
            others.close()


def _play(
    pair: tuple[Player, Player],
    names: tuple[str, str],
    opening: str,
    seed: int,
    registered: Mapping[str, Any],
) -> GameRecord:
    """One game, in whatever process: agents are built from their specs here."""
    for name, agent in registered.items():
        agents.register(name, agent, replace=True)
    return play_game((_policy(pair[0], 0), _policy(pair[1], 1)), names, opening, seed)


def _policy(player: Player, seat: int) -> Policy:
    return _made(player, seat) if isinstance(player, str) else player


@functools.lru_cache(maxsize=64)
def _made(spec: str, seat: int) -> Agent:
    """An agent of this process; one a seat, since the two sides of a game share nothing."""
    return agents.make(spec)
