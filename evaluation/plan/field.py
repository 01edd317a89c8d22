"""The field of a run: who plays, under which names, and how a worker makes each."""

from __future__ import annotations

__any_board__ = True

import copy
import functools
import hashlib
import inspect
import itertools
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeGuard

import numpy as np
from c4env.agents.base import Agent
from c4env.agents.zoo.registry import FunctionAgent, option_names, registered_here, split_spec
from c4env.evaluation.errors import InvalidRun

from c4env import agents
from c4env.envs.opponents import is_batched

if TYPE_CHECKING:
    from c4env.agents.adapters.chat.agent import Chat

Player = str | Callable[..., Any]
"""A spec string, or anything callable on an observation."""

Players = Sequence[Player] | Mapping[str, Player]
"""Players, or players by the names they shall have in the table."""


def name_players(players: Players) -> dict[str, Player]:
    """Players by their names in the table, each once.

    Raises:
        InvalidRun: not a list or mapping of agents, or a name twice.
    """
    if isinstance(players, str):
        raise InvalidRun(f"players={players!r}: expected a list of agents")
    pairs = (
        list(players.items())
        if isinstance(players, Mapping)
        else [
            split_name(player) if isinstance(player, str) else (title(player), player)
            for player in players
        ]
    )
    field: dict[str, Player] = {}
    for name, player in pairs:
        if name in field:
            raise InvalidRun(f"agent {name!r} is given twice: {_against_itself(player)}")
        if is_batched(player):
            player = agents.make(player)
        if isinstance(player, type):
            raise InvalidRun(f"agent {name!r} is a class: pass an instance or its import path")
        if not isinstance(player, str) and not callable(player):
            raise InvalidRun(f"agent {name!r}: {player!r} is neither a spec nor callable")
        try:
            name.encode()
        except UnicodeEncodeError:
            raise InvalidRun(
                f"agent {name!r}: expected a name of characters that UTF-8 has"
            ) from None
        field[name] = player
    return field


def separate(field: Mapping[str, Player]) -> dict[str, Player]:
    """The field with a copy of an object for each further name it stands under.

    Raises:
        InvalidRun: it cannot be copied.
    """
    found: dict[str, Player] = {}
    for name, player in field.items():
        if not isinstance(player, str) and any(player is other for other in found.values()):
            try:
                player = copy.deepcopy(player)  # the two sides of a game share nothing
            except Exception as error:
                raise InvalidRun(
                    f"agent {name!r} is an object that has another name too, and it cannot be "
                    f"copied ({error}): give two objects"
                ) from None
        found[name] = player
    return found


def split_name(text: str) -> tuple[str, str]:
    """Name and spec of ``name=SPEC``; a spec alone is its own name."""
    named = re.fullmatch(r"\s*([^=:(){},]+?)\s*=\s*(.+)", text, re.DOTALL)
    return (named[1], named[2].strip()) if named else (text, text)


def _against_itself(player: Player) -> str:
    """What to do for an agent against itself."""
    if isinstance(player, str):
        return f"to let it meet itself, name both: one={player} two={player} (or c4 play)"
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


def make_field(
    field: Mapping[str, Player], movetime: float | None = None
) -> tuple[Traits, dict[str, Agent]]:
    """Make each player that is a spec, as the run will, and look at all of them.

    A wrong spec is so found before a worker meets it, and an agent is compiled. A plain
    function is not known to be deterministic, nor is an agent that looks as far as the clock
    allows.

    Returns:
        what the run must know, and the agents made, by name; whoever asks closes them.

    Raises:
        UnknownAgent, UnknownOption, ...: a spec is wrong.
    """
    made: dict[str, Agent] = {}
    try:
        for name, player in field.items():
            if isinstance(player, str):
                made[name] = make_player(player, movetime)
    except BaseException:
        for started in made.values():
            started.close()
        raise
    found: list[list[str]] = [[], [], []]
    prompts = {}
    for name, player in field.items():
        agent: Any = made.get(name) or player
        clocked = getattr(agent, "movetime", None) is not None
        same = isinstance(agent, Agent) and agent.deterministic and not clocked
        holds = isinstance(agent, Agent) and type(agent).close is not Agent.close
        for names, yes in zip(found, (same, clocked, holds), strict=True):
            names.extend([name] * yes)
        if is_language_model(agent):
            prompts[name] = str(agent.prompt)
    known, timed, holding = (tuple(names) for names in found)
    return Traits(known, timed, holding, prompts), made


def is_language_model(agent: object) -> TypeGuard[Chat]:
    """Whether an agent is ``chat:MODEL``."""
    chat = sys.modules.get("c4env.agents.adapters.chat.agent")  # not imported: most runs do without
    return chat is not None and isinstance(agent, chat.Chat)


def code_of(field: Mapping[str, Player]) -> dict[str, str]:
    """Hashes of what players are made from besides this project: code, files, and settings.

    A run that goes on after one of them was changed would mix two agents under one name.
    """
    found: dict[str, str] = {}
    for name, player in field.items():
        if isinstance(player, str):
            for text, data in _named_by(player):
                found[text] = hashlib.sha256(data).hexdigest()[:16]
        elif data := (_source_of(player) or b"") + _settings_of(player):
            found[name] = hashlib.sha256(data).hexdigest()[:16]
    return found


def _named_by(spec: str) -> Iterator[tuple[str, bytes]]:
    """What the parts of a spec name, if that is code of the user's or a file, and its bytes."""
    name, _ = split_spec(spec)
    if name in registered_here() and (data := _source_of(registered_here()[name])):
        yield name, data
    texts, paths = _parts(spec)
    for text in texts:
        module = sys.modules.get(text.partition(":")[0]) if ":" in text else None
        if module is not None and (data := _source_of(module)):
            yield text, data
    for path in paths:
        if path.is_file():
            yield str(path), path.read_bytes()


def _parts(spec: str) -> tuple[list[str], list[Path]]:
    """The name and the options of a spec, and what in them may be the path of a file."""
    name, options = split_spec(spec)
    texts = [name, *options.values()]
    paths: list[Path] = []
    for text in texts:
        try:
            words = shlex.split(text)
        except ValueError:
            words = [text]
        for word in words:
            parts = word.split(":")  # FILE.py:NAME, torch:FILE.py:NAME, and C:\FILE.py:NAME
            spans = itertools.combinations(range(len(parts) + 1), 2)
            paths += [Path(":".join(parts[start:stop])) for start, stop in spans]
    return texts, paths


def made_from(name: str, described: str, key: str) -> bool:
    """Whether a player of a run's header is made from what a key of its ``code`` names."""
    if described.startswith("<"):  # an object
        return name == key
    texts, paths = _parts(described)
    return key in texts or key in map(str, paths)


_NOT_SETTINGS: Final = ("name", "nodes")


def _settings_of(player: Any) -> bytes:
    """The parameters of a player that is an object or a closure, as far as they are plain values.

    What else it holds, such as generators and connections, says nothing about who it is.
    """
    if isinstance(player, Agent) and player.settings_are_all:
        held: Any = player.made_with
    elif isinstance(player, FunctionAgent):
        return _settings_of(player.function)
    elif isinstance(player, functools.partial):
        held = (player.args, player.keywords, _settings_of(player.func))
    elif inspect.isfunction(player):
        held = list(inspect.getclosurevars(player).nonlocals.items())
    else:
        held = {k: v for k, v in getattr(player, "__dict__", {}).items() if k not in _NOT_SETTINGS}
    return _plain(held)


def _plain(value: Any) -> bytes:
    """A value as bytes: numbers, texts, arrays, and collections of them; nothing of the rest."""
    if isinstance(value, str | bytes | int | float | bool | None | os.PathLike):
        return repr(value).encode("utf-8", "backslashreplace") + b";"
    if isinstance(value, np.ndarray | np.generic) and value.dtype != object:
        return str((value.dtype, value.shape)).encode() + value.tobytes()
    if isinstance(value, Mapping):
        return b"".join(_plain(k) + found for k, v in value.items() if (found := _plain(v)))
    if isinstance(value, list | tuple):
        return b"".join(map(_plain, value))
    return b""


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
