"""The field of a run: who plays, under which names, and how a worker makes each."""

from __future__ import annotations

import hashlib
import inspect
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import agents
from agents.adapters.chat import Chat
from agents.base import Agent
from agents.zoo.registry import FunctionAgent, option_names, registered_here, split_spec
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


def describe_player(player: Player) -> str:
    """What the header of a run says of a player: its spec, or the name of an object."""
    return player if isinstance(player, str) else f"<{title(player)}>"


def make_player(spec: str, movetime: float | None) -> Agent:
    """The agent of a spec; one that has an option ``movetime`` plays by the run's, or its own."""
    name, given = split_spec(spec)
    if movetime is None or "movetime" in given or "movetime" not in option_names(name):
        return agents.make(spec)
    return agents.make(spec, movetime=movetime)


class Traits(NamedTuple):
    """What a run must know of its field: names of players."""

    deterministic: tuple[str, ...]  # known to answer the same position always alike
    timed: tuple[str, ...]  # the clock decides how far they look
    holding: tuple[str, ...]  # they hold what must be given back: a process, a connection
    prompts: Mapping[str, str] = MappingProxyType({})  # of language models, by player


def traits(field: Mapping[str, Player], movetime: float | None = None) -> Traits:
    """Look at each player once, as the run will make it.

    A plain function is not known to be deterministic, nor is an agent that looks as far as
    the clock allows.
    """
    found: list[list[str]] = [[], [], []]
    prompts = {}
    for name, player in field.items():
        agent = make_player(player, movetime) if isinstance(player, str) else player
        clocked = getattr(agent, "movetime", None) is not None
        same = isinstance(agent, Agent) and agent.deterministic and not clocked
        holds = isinstance(agent, Agent) and type(agent).close is not Agent.close
        for names, yes in zip(found, (same, clocked, holds), strict=True):
            names.extend([name] * yes)
        if isinstance(agent, Chat):
            prompts[name] = str(agent.prompt)
        if agent is not player and isinstance(agent, Agent):
            agent.close()
    known, timed, holding = (tuple(names) for names in found)
    return Traits(known, timed, holding, prompts)


def code_of(field: Mapping[str, Player]) -> dict[str, str]:
    """Hashes of what players are made from besides this project: their code, and files they name.

    A run that goes on after one of them was edited would mix two agents under one name.
    """
    found: dict[str, str] = {}
    for name, player in field.items():
        if isinstance(player, str):
            for text, data in _named_by(player):
                found[text] = hashlib.sha256(data).hexdigest()[:16]
        elif (source := _source_of(player)) is not None:
            found[name] = hashlib.sha256(source).hexdigest()[:16]
    return found


def _named_by(spec: str) -> Iterator[tuple[str, bytes]]:
    """What the parts of a spec name, if that is code of the user's or a file, and its bytes."""
    name, options = split_spec(spec)
    if name in registered_here() and (data := _source_of(registered_here()[name])):
        yield name, data
    for text in (name, *options.values()):
        module = sys.modules.get(text.partition(":")[0]) if ":" in text else None
        if module is not None:
            if data := _source_of(module):
                yield text, data
            continue
        try:
            words = shlex.split(text)
        except ValueError:
            words = [text]
        yield from ((word, Path(word).read_bytes()) for word in words if Path(word).is_file())


def _source_of(thing: Any) -> bytes | None:
    """The file a module, function, or the class of an object stands in; None for our own."""
    if isinstance(thing, FunctionAgent):
        thing = thing.function
    if not inspect.ismodule(thing) and not inspect.isfunction(thing) and not inspect.isclass(thing):
        thing = type(thing)
    module = inspect.getmodule(thing)
    if module is None or module.__name__.partition(".")[0] in ("agents", "c4env", "builtins"):
        return None
    try:
        if module.__name__ == "__main__":  # a script changes for other reasons too
            return inspect.getsource(thing).encode()
        return Path(inspect.getfile(module)).read_bytes()
    except (OSError, TypeError):  # typed in, or compiled
        return None
