"""The field of a run: who plays, under which names, and how a worker makes each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import agents
from agents.base import Agent
from agents.registry import FunctionAgent
from evaluation.errors import InvalidRun

Player = str | Callable[..., Any]
"""A spec string, or anything callable on an observation."""

Players = Sequence[Player] | Mapping[str, Player]
"""Players, or players by the names they shall have in the table."""


def name_players(players: Players) -> dict[str, Player]:
    """Players by their names in the table, each once.

    Raises:
        InvalidRun: not a list or mapping of agents, or a name twice.
        UnknownAgent, UnknownOption, ...: a spec is wrong.
    """
    if isinstance(players, str):
        raise InvalidRun(f"players={players!r}: expected a list of agents")
    pairs = (
        list(players.items())
        if isinstance(players, Mapping)
        else [(player if isinstance(player, str) else title(player), player) for player in players]
    )
    field: dict[str, Player] = {}
    for name, player in pairs:
        if name in field:
            raise InvalidRun(f"agent {name!r} is given twice: {_against_itself(player)}")
        if isinstance(player, type):
            raise InvalidRun(f"agent {name!r} is a class: pass an instance or its import path")
        if not isinstance(player, str) and not callable(player):
            raise InvalidRun(f"agent {name!r}: {player!r} is neither a spec nor callable")
        field[name] = player
    for player in field.values():
        if isinstance(player, str):
            agents.make(player).close()  # an error now rather than in a worker; compiles it
    return field


def _against_itself(player: Player) -> str:
    """What to do for an agent against itself."""
    if isinstance(player, str):
        return "to see it play itself: c4 play, or a mapping of two names to it in Python"
    return "in a mapping each has its own name"


def title(player: Callable[..., Any]) -> str:
    """The name of an agent that is given as an object."""
    if isinstance(player, FunctionAgent | Agent) and player.name:
        return player.name
    return getattr(player, "__name__", type(player).__name__)


def deterministic_players(field: Mapping[str, Player]) -> list[str]:
    """Names of the agents known to answer the same position always alike.

    A plain function is not known to, nor is an agent that looks as far as the clock allows.
    """
    known = []
    for name, player in field.items():
        agent = agents.make(player) if isinstance(player, str) else player
        if isinstance(agent, Agent) and agent.deterministic and agent.movetime is None:
            known.append(name)
        if isinstance(player, str) and isinstance(agent, Agent):
            agent.close()
    return known


def describe_player(player: Player) -> str:
    """What the header of a run says of a player: its spec, or the name of an object."""
    return player if isinstance(player, str) else f"<{title(player)}>"
