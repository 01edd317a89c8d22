"""The policy interface: agents, and the results of searching agents.

The evaluation plays any callable on an observation. The agents of this zoo derive
from :class:`Agent`, which turns the observation into a position.
"""

from __future__ import annotations

__any_board__ = True

import abc
import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self, SupportsIndex

import numpy as np

from c4env.agents.errors import InvalidValue, NoMove, NoSearch
from c4env.errors import require_integer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from c4env.position import Position


class Agent(abc.ABC):
    """A policy, which chooses a 0-based column in a position.

    An agent plays one game at a time, for one caller: give each thread an agent of its own. A
    copy, by ``copy.deepcopy`` or ``pickle``, plays on as the agent would, its random state
    included; a program, a server or a bot behind the agent starts again.

    Attributes:
        name: the spec that made the agent; empty if the class was called directly.
        deterministic: True when the agent always plays the same column in the same position,
            whatever the seed. A class must declare it. A report calls a run of deterministic
            agents over all openings exact.
        nodes: positions searched for the latest column; 0 for agents that do not search.
        movetime: seconds for each move, if the clock limits the search (games then need not
            repeat); else None.
    """

    settings_are_all: ClassVar[bool] = False
    """Whether a copy or pickle of an agent holds only its arguments and :attr:`memory`; the copy
    rebuilds everything else."""

    memory: ClassVar[tuple[str, ...]] = ()
    """Attributes, besides the arguments, that the next moves depend on."""

    deterministic: bool = False
    name: str = ""
    nodes: int = 0
    movetime: float | None = None

    made_with: tuple[tuple[Any, ...], dict[str, Any]]  # the arguments, if settings_are_all
    _given: Mapping[str, Any] = MappingProxyType({})  # the checked arguments, for repr

    def __new__(cls, *args: Any, **options: Any) -> Self:
        """Keep the arguments if :attr:`settings_are_all` is true."""
        agent = super().__new__(cls)
        if cls.settings_are_all:
            agent.made_with = (args, options)
        return agent

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        """Copy the agent by its arguments if :attr:`settings_are_all` is true."""
        if not self.settings_are_all:
            return super().__reduce_ex__(protocol)
        return _made_again, (type(self), *self.made_with), self.__getstate__()

    def __getstate__(self) -> Any:
        """The state that a copy gets besides the arguments."""
        if not self.settings_are_all:
            return super().__getstate__()
        return {name: getattr(self, name) for name in ("name", *self.memory)}

    def __call__(self, observation: Mapping[str, Any] | NDArray[Any]) -> int:
        """The column for an observation of the player to move (``c4env.observation``)."""
        from c4env.observation import position_from

        return self.choose(position_from(observation))

    def reset(self, seed: int | np.random.SeedSequence | None = None) -> None:  # noqa: B027  # most have nothing to do
        """Begin a new game; a stochastic agent restarts its generator from ``seed``."""

    def reseed(self, seed: int) -> None:
        """Restart the generator from a seed, and forget the game.

        In an environment of many boards every move of a stochastic agent begins with this call,
        so that boards do not influence each other. An agent may override it to keep parts that are
        expensive to build and do not depend on the seed.
        """
        self.reset(seed)

    @abc.abstractmethod
    def choose(self, position: Position) -> int:
        """The 0-based column to play.

        Raises:
            NoMove: the game is over.
        """

    def search(self, position: Position) -> SearchResult:
        """The column that :meth:`choose` plays, with its value and principal variation.

        Raises:
            NoMove: the game is over.
            NoSearch: the agent is no :class:`SearchingAgent`.
        """
        require_move(position)
        raise NoSearch(f"{self!r} does not search: expected an agent such as alphabeta")

    def close(self) -> None:  # noqa: B027  # most hold nothing
        """Release the agent's resources beyond memory, such as a process or a connection."""

    def __repr__(self) -> str:
        if self.name:
            return f"agents.make({self.name!r})"
        given = (f"{key}={_shown(value)}" for key, value in self._given.items())
        return f"{type(self).__name__}({', '.join(given)})"


def _shown(value: Any) -> str:
    """A value in a ``repr``; ``...`` if no text can reproduce it."""
    return repr(value) if isinstance(value, str | int | float | None) else "..."


def _made_again(kind: type[Agent], args: tuple[Any, ...], options: dict[str, Any]) -> Agent:
    return kind(*args, **options)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The result of a search, from the view of the side to move.

    A greater ``value`` is better for that side. The first column of the ``principal_variation``
    is the chosen ``column``.
    """

    column: int
    value: float
    nodes: int  # positions visited below the root
    depth: int  # plies searched, the agent's own move included
    principal_variation: tuple[int, ...]  # 0-based columns, the chosen one first


class SearchingAgent(Agent):
    """An agent that searches and reports value, nodes and principal variation."""

    def choose(self, position: Position) -> int:
        """The 0-based column to play; sets :attr:`nodes`."""
        column, _, self.nodes = self.best_move(position)
        return column

    def best_move(self, position: Position) -> tuple[int, float, int]:
        """The best column, its value for the side to move, and the nodes searched.

        Raises:
            InvalidPosition: not a position of this board.
            NoMove: the game is over.
        """
        result = self.search(position)
        return result.column, result.value, result.nodes

    @abc.abstractmethod
    def search(self, position: Position) -> SearchResult:
        """The column that :meth:`choose` plays, with its value and principal variation.

        Raises:
            InvalidPosition: not a position of this board.
            NoMove: the game is over.
        """


class FunctionAgent(Agent):
    """An agent that calls a function, or another library's policy, on an observation.

    It counts as stochastic, since the function may draw random numbers. A new game calls the
    function's ``reset(seed)``, if it has one.
    """

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function
        self.name = getattr(function, "__name__", type(function).__name__)

    def __call__(self, observation: Any) -> Any:
        """The function's unchecked result; ``nodes`` becomes the function's ``nodes``, or 0."""
        answer = self.function(observation)
        self.nodes = getattr(self.function, "nodes", 0)
        return answer

    def reset(self, seed: Any = None) -> None:
        """Call the function's ``reset``, if it has one, with the seed if it takes one."""
        reset = getattr(self.function, "reset", None)
        if not callable(reset):
            return
        arguments = () if parameters_of(reset) == {} else (seed,)
        reset(*arguments)

    def choose(self, position: Any) -> int:
        """The function's column for the observation of the side to move."""
        from c4env.envs.opponents import one_column
        from c4env.observation import observe

        return one_column(self(observe(position)))


def parameters_of(target: Callable[..., Any]) -> Mapping[str, inspect.Parameter] | None:
    """The parameters of a callable; None if Python does not know them, as for ``max``."""
    try:
        return inspect.signature(target).parameters
    except (TypeError, ValueError):
        return None


def is_model(thing: object) -> bool:
    """Whether :func:`c4env.agents.make` takes an object as a model.

    Modules of PyTorch, and models and policies of Stable-Baselines3, are models; their classes
    are not.
    """
    if isinstance(thing, type | Agent):
        return False
    if hasattr(getattr(thing, "policy", thing), "obs_to_tensor"):
        return True
    return hasattr(thing, "state_dict") and hasattr(thing, "parameters")


def as_number(seed: int | np.random.SeedSequence | None) -> int | None:
    """A seed as an integer; None stays None."""
    if isinstance(seed, np.random.SeedSequence):
        return int(seed.generate_state(1, np.uint64)[0])
    return seed


def require_count(name: str, value: object, low: int, high: int) -> int:
    """Return the value of an option if it is an integer from ``low`` to ``high``.

    Raises:
        InvalidValue: the value is no such integer.
    """
    expected = f"an integer between {low} and {high}"
    return require_integer(name, value, low, expected, high=high, wrong=InvalidValue)


def require_move(position: Position) -> None:
    """Refuse a position without a legal move.

    Raises:
        InvalidPosition: not a position of this board.
        NoMove: the game is over.
    """
    if _check()(position).outcome is not None:
        raise NoMove(f"{position!r}: the game is over, there is no move to choose")


@functools.cache
def _check() -> Callable[[object], Position]:
    from c4env.position import require_position  # compiles the rules, which ``c4 list`` must not do

    return require_position
