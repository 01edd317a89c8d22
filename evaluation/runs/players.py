"""The players of a run, their names, their agents and their traits."""

from __future__ import annotations

import copy
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any, Final, NamedTuple, cast

from c4env.agents.base import Agent
from c4env.agents.making.as_agent import FunctionAgent, NetworkAgent, as_agent
from c4env.agents.making.kinds import Kind, kind_of
from c4env.agents.making.spec import Spec
from c4env.agents.programs.kaggle import Submission
from c4env.errors import InvalidOption
from c4env.evaluation.records.header import Contents, Identity, identity
from c4env.geometry import IS_STANDARD
from c4env.position import Position

PlayerLike = str | Spec | Callable[..., Any]
"""A spec, or an object that can be called with an observation."""

PlayersLike = Sequence[PlayerLike] | Mapping[str, PlayerLike]
"""A list of players, or a mapping from names to players."""

UNSEEN: Final = frozenset(
    chr(code) for code in (0x034F, 0x115F, 0x1160, 0x2800, 0x3164, 0xFFA0, *range(0xFE00, 0xFE10))
)
"""Letters, accents and symbols that show nothing, besides format characters and wide blanks."""

Players = Mapping[str, Spec | Agent]
"""The players of a run by name, their specs parsed (:func:`name_players`)."""


def name_players(players: PlayersLike) -> Players:
    """Return a mapping from names to players.

    Raises:
        InvalidOption: ``players`` is not a list or mapping of agents, a name occurs twice, or two
            names look the same.
    """
    if isinstance(players, str):
        raise InvalidOption(f"players={players!r}: expected a list of agents")
    pairs: Iterable[tuple[str, PlayerLike]] = (
        players.items()
        if isinstance(players, Mapping)
        else (split_name(p) if isinstance(p, str) else (title(p), p) for p in players)
    )
    named: dict[str, Spec | Agent] = {}
    shown: dict[str, str] = {}  # names by how they look: an accent may be a separate character
    for name, player in pairs:
        if name in named:
            raise InvalidOption(
                f"agent {name!r} is given twice: {name_advice(named[name], player)}"
            )
        if isinstance(player, str):
            player = Spec.parse(player)
            _require_no_option(name, player, next(reversed(named.values()), None))
        if isinstance(player, type):
            raise InvalidOption(f"agent {name!r} is a class: pass an instance, or the class's path")
        if not isinstance(player, Spec):
            player = as_agent(player)
        require_visible(name)
        if (twin := shown.setdefault(unicodedata.normalize("NFC", name), name)) != name:
            raise InvalidOption(f"agents {twin!a} and {name!a} look the same: rename one")
        named[name] = player
    return named


def require_visible(name: str) -> None:
    """Refuse a name that looks like another name, or that a file cannot hold.

    Raises:
        InvalidOption: the name is not a text, is empty, has blanks around it, has a character that
            nobody sees, or cannot be encoded. (Control characters are shown by their numbers.)
    """
    if not isinstance(name, str) or not name:
        raise InvalidOption(f"agent {name!r}: expected a name")
    if name != name.strip():
        raise InvalidOption(f"agent {name!r}: expected a name without blanks around it")
    for character in name:
        unseen = unicodedata.category(character) in ("Cf", "Zs") or character in UNSEEN
        if unseen and character != " ":
            raise InvalidOption(
                f"agent {name!r}: expected a name without {character!a}, "
                f"{unicodedata.name(character, 'a character')}, which nobody sees"
            )
    try:
        name.encode()
    except UnicodeEncodeError:
        raise InvalidOption(
            f"agent {name!r}: expected a name that can be encoded as UTF-8"
        ) from None


def _require_no_option(name: str, spec: Spec, before: Spec | Agent | None) -> None:
    """Refuse an option that a space separates from its agent, as ``alphabeta depth=4``."""
    if not (isinstance(before, Spec) and before.known) or spec.known or name == spec.text:
        return
    if before.takes(name):
        meant = f"{before.text}{',' if before.options else ':'}{name}={spec.text}"
        raise InvalidOption(f"'{name}={spec.text}': {name} is an option: did you mean {meant!r}?")


def as_players(players: PlayersLike | PlayerLike) -> PlayersLike:
    """Return one player or several as players."""
    if isinstance(players, str | Spec) or kind_of(players) is not Kind.NOTHING:
        return [cast("PlayerLike", players)]
    return cast("PlayersLike", players)


def without_shared_objects(players: Players) -> Players:
    """Return the players, with a copy of an object for each further name of the object.

    Raises:
        InvalidOption: an object with several names cannot be copied.
    """
    separate: dict[str, Spec | Agent] = {}
    for name, player in players.items():
        if any(_thing(player) is _thing(other) for other in separate.values()):
            problem = "is an object with two names, and no copy is possible"
            player = _copied(name, player, problem, "two objects")  # two sides share nothing
        separate[name] = player
    return separate


def _thing(player: Spec | Agent) -> object:
    """Return what two players must not share: the object or the function of a player."""
    return player.function if isinstance(player, FunctionAgent) else player


def for_another_job(players: Players) -> Players:
    """Return the players for another thread, with copies of Python objects.

    Raises:
        InvalidOption: an object cannot be copied, or has a function that Numba runs in parallel
            threads. With some threading layers of Numba, two threads that call parallel functions
            end the process.
    """
    problem, expected = "cannot be copied for another job", "jobs=1, or a spec FILE.py:NAME"
    for name, player in players.items():
        for value in [] if isinstance(player, Spec) else vars(player).values():
            if _starts_threads(value):
                raise InvalidOption(
                    f"agent {name!r}: {value.__name__!r} has parallel=True, which two jobs of one "
                    f"process must not run at once: expected {expected}"
                )
    return {name: _copied(name, player, problem, expected) for name, player in players.items()}


def _starts_threads(value: Any) -> bool:
    """Return whether a value is a function that ``numba.njit(parallel=True)`` made."""
    numba = sys.modules.get("numba.extending")
    return bool(numba and numba.is_jitted(value) and value.targetoptions.get("parallel"))


def _copied(name: str, player: Spec | Agent, problem: str, expected: str) -> Spec | Agent:
    try:
        copied = player if isinstance(player, Spec) else copy.deepcopy(player)
        if (reset := _reset_of(player)) is not None and _reset_of(copied) is reset:
            raise TypeError("the state that the reset of a function restarts would be shared")
    except Exception as error:
        raise InvalidOption(f"agent {name!r} {problem} ({error}): expected {expected}") from None
    return copied


def _reset_of(player: Spec | Agent) -> object:
    """Return the reset of a function or network; None for other agents, which copy it."""
    if isinstance(player, NetworkAgent):
        return getattr(player.network.source, "reset", None)
    return getattr(player.function, "reset", None) if isinstance(player, FunctionAgent) else None


def split_name(text: str) -> tuple[str, str]:
    """Split ``name=SPEC`` into name and spec; a spec without a name is its own name.

    A name has no slash, so that ``runs/lr=0.1/mine.py`` is a path.
    """
    text = text.strip()
    named = re.fullmatch(r"([^=:(){},/\\]+?)\s*=\s*(.+)", text, re.DOTALL)
    return (named[1], named[2].strip()) if named else (text, text)


def name_advice(first: PlayerLike, second: PlayerLike) -> str:
    """Return advice on how two agents with the same name can play."""
    if not (isinstance(first, str | Spec) and isinstance(second, str | Spec)):
        return "use a mapping to give each agent its own name"
    if str(first) != str(second):
        return f"give each agent its own name: one={first} two={second}"
    return f"for a game against itself, give two names: one={first} two={second} (or c4 play)"


def title(player: PlayerLike) -> str:
    """Return the name of an agent that is a Python object; a spec is its own name."""
    if isinstance(player, Spec):
        return player.text
    if isinstance(player, Agent) and player.name:
        return player.name
    return getattr(player, "__name__", type(player).__name__)


def describe_player(player: PlayerLike) -> str:
    """Return a player's entry in the header of a run: the spec, or the name of an object."""
    return player.text if isinstance(player, Spec) else f"<{title(player)}>"


LATE_POSITION: Final = "2357613173521664466455447321413652275771"  # two cells are empty


def make_player(spec: Spec, movetime: float | None) -> Agent:
    """Make the agent that a spec names.

    An agent with the option ``movetime`` takes the movetime of the run, unless its spec sets its
    own. An agent of this project makes a first move here. The move loads what the agent needs, so
    that no clock counts the loading.
    """
    takes_it = movetime is not None and "movetime" not in spec.options and spec.takes("movetime")
    agent = spec.make(movetime=movetime) if takes_it else spec.make()
    if IS_STANDARD and spec.is_ours:
        with suppress(Exception):  # a user's heuristic may fail: then it fails in a game too
            agent.choose(Position.parse(LATE_POSITION))
    return agent


class Traits(NamedTuple):
    """What a player says of itself, and its code from outside this project."""

    deterministic: bool  # always gives the same answer in the same position
    timed: bool  # searches by the clock
    files: Contents = MappingProxyType({})  # the hashes of its files
    version: str | None = None  # of a Python object: its version, or "" without one
    timeout: float | None = None  # seconds after which the process of a late agent is killed
    overage: float = 0.0  # additional seconds for all moves of a game together

    @property
    def code(self) -> Identity:
        """What a stored run knows of the code: a hash of the files, or the object's version."""
        return identity(self.files) if self.version is None else {"version": self.version}


def traits_of(agent: Agent) -> Traits:
    """Return what an agent says of itself, after a check that the agent is ready.

    Agents whose search depth depends on the clock do not count as deterministic.
    """
    agent.ready()
    timed = agent.movetime is not None
    deterministic = agent.deterministic is True and not timed
    overage = agent.overage if isinstance(agent, Submission) else 0.0
    timeout = getattr(agent, "timeout", None)
    return Traits(deterministic, timed, timeout=timeout, overage=overage)
