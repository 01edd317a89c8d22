"""Choose the openings of a run: those of ``c4env.openings``, shuffled by the seed of the run.

Deterministic agents repeat the same game from the same position, so a run uses each opening once.

The field of a run: its players, their names, and how workers make the players.

Check the settings of a run.
"""

from __future__ import annotations

import copy
import functools
import hashlib
import numbers
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeGuard, cast

from c4env.agents.entries import ZOO
from c4env.boards import require_board
from c4env.errors import InvalidOption, require_integer

from ... import agents
from ...agents.base import Agent, FunctionAgent, is_model
from ...agents.spec import option_names, split_spec
from ...envs.opponents import is_batched
from ...geometry import BOARD_SIZE, IS_STANDARD
from ...openings import Openings as Openings
from ...openings import list_openings
from ..store.header import Identity
from ..store.run_files import GameRecord
from .game import Clock

if TYPE_CHECKING:
    from ...agents.adapters.chat import Chat


def choose_openings(openings: Openings, seed: int = 0, limit: int | None = None) -> list[str]:
    """Return the openings of a run, as move strings of 1-based columns.

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


Player = str | Callable[..., Any]
"""A spec string, or an object that can be called with an observation."""

Players = Sequence[Player] | Mapping[str, Player]
"""A list of players, or a mapping from names to players."""


def name_players(players: Players) -> dict[str, Player]:
    """Return a mapping from names to players.

    Raises:
        InvalidOption: ``players`` is not a list or mapping of agents, or a name occurs twice.
        WrongBoard: an agent plays on a board of another size.
    """
    if isinstance(players, str):
        raise InvalidOption(f"players={players!r}: expected a list of agents")
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
            raise InvalidOption(
                f"agent {name!r} is given twice: {name_advice(field[name], player)}"
            )
        if is_model(player) or is_batched(player) or not isinstance(player, str | Callable):
            player = agents.make(player)
        if isinstance(player, type):
            raise InvalidOption(f"agent {name!r} is a class: pass an instance, or the class's path")
        require_board(player, BOARD_SIZE, f"agent {name!r}")
        try:
            name.encode()
        except UnicodeEncodeError:
            raise InvalidOption(
                f"agent {name!r}: expected a name that can be encoded as UTF-8"
            ) from None
        field[name] = player
    return field


def as_players(given: Players | Player) -> Players:
    """Return one player or several as players."""
    if isinstance(given, str) or callable(given) or is_model(given):
        return [cast("Player", given)]
    return given


def separate(field: Mapping[str, Player]) -> dict[str, Player]:
    """Return the field; an object that has several names is copied for each further name.

    Raises:
        InvalidOption: an object with several names cannot be copied.
    """
    found: dict[str, Player] = {}
    for name, player in field.items():
        if not isinstance(player, str) and any(player is other for other in found.values()):
            try:
                player = copy.deepcopy(player)  # the two sides of a game share nothing
            except Exception as error:
                raise InvalidOption(
                    f"agent {name!r} is an object with two names, and no copy is possible "
                    f"({error}): expected two objects"
                ) from None
        found[name] = player
    return found


def split_name(text: str) -> tuple[str, str]:
    """Split ``name=SPEC`` into name and spec; a spec without a name is its own name.

    A name has no slash, so that ``runs/lr=0.1/mine.py`` is a path.
    """
    named = re.fullmatch(r"\s*([^=:(){},/\\]+?)\s*=\s*(.+)", text, re.DOTALL)
    return (named[1], named[2].strip()) if named else (text, text)


def name_advice(first: Player, second: Player) -> str:
    """Return advice on how two agents of one name can play."""
    if not (isinstance(first, str) and isinstance(second, str)):
        return "use a mapping to give each agent its own name"
    if first != second:
        return f"give each agent a name of its own: one={first} two={second}"
    return f"for a game against itself, give two names: one={first} two={second} (or c4 play)"


def title(player: Callable[..., Any]) -> str:
    """Return the name of an agent that is a Python object."""
    if isinstance(player, FunctionAgent | Agent) and player.name:
        return player.name
    return getattr(player, "__name__", type(player).__name__)


def describe_player(player: Player) -> str:
    """Return a player's entry in the header of a run: the spec, or the name of an object."""
    return player if isinstance(player, str) else f"<{title(player)}>"


LATE: Final = "2357613173521664466455447321413652275771"  # two cells are empty


def make_player(spec: str, movetime: float | None) -> Agent:
    """Make the agent that a spec names.

    An agent with the option ``movetime`` gets the run's, unless its spec sets its own. An agent of
    this project makes a first move, which loads what it needs, so that no clock counts it.
    """
    name, given = split_spec(spec)
    if movetime is None or "movetime" in given or "movetime" not in option_names(name):
        agent = agents.make(spec)
    else:
        agent = agents.make(spec, movetime=movetime)
    if IS_STANDARD and any(entry.name == name and entry.runs == "shared" for entry in ZOO):
        from ...position import Position  # compiled

        with suppress(Exception):  # a user's heuristic may fail; then it fails in a game
            agent.choose(Position.parse(LATE))
    return agent


class Traits(NamedTuple):
    """What a player says of itself, and the code from outside this project that it consists of."""

    deterministic: bool  # always gives the same answer in the same position
    timed: bool  # searches by the clock
    prompt: str = ""  # of a language model
    code: Identity = MappingProxyType({})
    limit: float | None = None  # seconds after which the process of a late agent is killed


def traits_of(agent: Any) -> Traits:
    """Return what an agent says of itself; check that it is ready.

    Agents whose search depth depends on the clock do not count as deterministic.
    """
    if isinstance(agent, Agent):
        agent.ready()
    timed = getattr(agent, "movetime", None) is not None
    claim = agent.repeats if isinstance(agent, Agent) else getattr(agent, "deterministic", False)
    same = claim is True and not timed
    prompt = str(agent.prompt) if is_language_model(agent) else ""
    return Traits(same, timed, prompt, limit=getattr(agent, "timeout", None))


def is_language_model(agent: object) -> TypeGuard[Chat]:
    """Whether an agent is a language model (spec ``chat:MODEL``)."""
    chat = sys.modules.get("c4env.agents.adapters.chat")  # not imported in most runs
    return chat is not None and isinstance(agent, chat.Chat)


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
