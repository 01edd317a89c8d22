"""The policy interface: base classes of agents, and the result of a search.

The evaluation plays any callable that takes an observation. The agents of this package derive from
:class:`Agent`, which turns the observation into a position.
"""

from __future__ import annotations

import abc
import functools
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from c4env.arrays import Float64s, Int64s
from c4env.errors import IllegalMove, InvalidAction, InvalidOption, require_integer

from ..envs.opponents import reset_player

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..position import Position

_MODELS: Final = (  # a model's class is imported already, or there is no model
    ("torch.nn", "Module"),
    ("stable_baselines3.common.base_class", "BaseAlgorithm"),
)
CHOICES: Final = ("choose", "search")  # the methods by which an agent chooses
HINT: Final = "a function that answers for many boards must be marked by c4env.batched"


class Agent(abc.ABC):
    """A policy: chooses a 0-based column in a position.

    :meth:`choose` is the one method to write. Tournaments and environments play its columns.

    An agent plays one game at a time for one caller, so give each thread its own agent. A copy,
    made by ``copy.deepcopy``, includes the random state and plays on as the original would. A
    program, a server or a bot that an agent uses starts anew for the copy.

    Attributes:
        name: the spec that made the agent; empty if the class was called directly.
        deterministic: True when the agent always plays the same column in the same position,
            whatever the seed. A class must declare it, and so must a subclass that chooses
            otherwise (:attr:`repeats`). If all agents of a run are deterministic and the run plays
            all openings, a report calls the result exact.
        nodes: number of positions searched for the latest move; 0 for agents that do not search.
        movetime: seconds for each move if the clock limits the search, else None. With a
            clock, two runs of the same game may differ.

    Example:
        >>> class Leftmost(Agent):
        ...     def choose(self, position):
        ...         return position.legal_columns()[0]
        >>> Leftmost().choose(Position.parse("4"))
        0
    """

    deterministic: bool = False
    name: str = ""
    nodes: int = 0
    movetime: float | None = None
    _joined: int = 0  # boards of environments that the agent has joined

    _given: Mapping[str, Any] = MappingProxyType({})  # the checked arguments, for repr

    @final
    def __call__(self, observation: Mapping[str, Any] | NDArray[Any]) -> int:
        """Return what :meth:`choose` plays for an observation (``c4env.observation``)."""
        from ..observation import position_from

        return self.choose(position_from(observation))

    def reset(self, seed: int | np.random.SeedSequence | None = None) -> None:  # noqa: B027  # most have nothing to do
        """Begin a new game; a stochastic agent restarts its generator from ``seed``."""

    def reseed(self, seed: int) -> None:
        """Restart the random generator from a seed, and forget the game.

        In an environment this call precedes every move of a stochastic agent, so that boards do
        not influence each other. An override may keep parts that are expensive to
        build and do not depend on the seed.
        """
        reset_player(self, seed)

    @abc.abstractmethod
    def choose(self, position: Position) -> int:
        """Choose the 0-based column to play.

        Raises:
            IllegalMove: the game is over.
        """

    def choose_many(self, discs: Int64s, seeds: Int64s) -> Int64s:
        """Choose columns, int64 ``[M]``, on M boards whose games the agent does not remember.

        A stochastic agent is reseeded before each move, so that boards do not influence each
        other. Override this method to choose on all boards at once. Callers ask :meth:`play_many`.

        Args:
            discs: int64 ``[M, 2]``, bitboards of the side to move and of the other side; read only.
            seeds: int64 ``[M]`` below 2**48.
        """
        from ..position import Position

        columns = np.empty(len(discs), np.int64)
        for i, (mine, theirs) in enumerate(discs.tolist()):
            if not self.repeats:
                self.reseed(int(seeds[i]))
            columns[i] = self.choose(Position.from_bitboards(mine, theirs))
        return columns

    @final
    def play_many(self, discs: Int64s, seeds: Int64s) -> Int64s:
        """Choose columns on many boards, as :meth:`choose_many` describes.

        If :meth:`choose_many` was written for another :meth:`choose` than the agent's, as in a
        subclass that brings its own, :meth:`choose` is asked board by board.
        """
        if is_written_for_choice(self, "choose_many"):
            return self.choose_many(discs, seeds)
        return Agent.choose_many(self, discs, seeds)

    @property
    @final
    def repeats(self) -> bool:
        """Whether :attr:`deterministic` is True, and was declared for this :meth:`choose`."""
        return self.deterministic is True and is_written_for_choice(self, "deterministic")

    @property
    def answers_together(self) -> bool:
        """Whether the agent has its own way to choose on many boards; see :meth:`play_many`.

        If not, its column on a board is that of :meth:`choose` after :meth:`reseed`.
        """
        return any(is_written_for_choice(self, n) for n in ("choose_many", "choose_in_games"))

    # -- the games of an environment: Pool and Curriculum treat each game by itself

    def join(self, boards: int) -> Int64s:
        """Return numbers, int64 ``[boards]``, by which an environment names its boards below.

        No two environments have a number in common.
        """
        first = self._joined
        self._joined += boards
        return np.arange(first, self._joined)

    def begin_games(self, boards: Int64s, seeds: Int64s) -> None:  # noqa: B027  # most do nothing
        """Begin new games on boards ``[M]``, with seeds as for :meth:`choose_many`."""

    def choose_in_games(self, boards: Int64s, discs: Int64s, seeds: Int64s) -> Int64s:
        """Choose columns as :meth:`choose_many` does, in the games on boards ``[M]``."""
        return self.play_many(discs, seeds)

    @final
    def play_in_games(self, boards: Int64s, discs: Int64s, seeds: Int64s) -> Int64s:
        """Choose columns in games; :meth:`choose_in_games` counts as :meth:`choose_many` does."""
        if is_written_for_choice(self, "choose_in_games"):
            return self.choose_in_games(boards, discs, seeds)
        return self.play_many(discs, seeds)

    def end_games(self, boards: Int64s, rewards: Float64s) -> None:  # noqa: B027  # most do nothing
        """Take note of the caller's rewards ``[M]`` in games that end on these boards."""

    def search(self, position: Position) -> SearchResult:
        """Return the column that :meth:`choose` plays, with its value and principal variation.

        Raises:
            IllegalMove: the game is over.
            InvalidOption: the agent is not a :class:`SearchingAgent`.
        """
        require_move(position)
        raise InvalidOption(f"{self!r} does not search: expected an agent such as alphabeta")

    def ready(self) -> None:  # noqa: B027  # most need nothing
        """Check, before a run, that what the agent needs is there, such as a program that starts.

        Raises:
            C4Error: the agent cannot play.
        """

    def close(self) -> None:  # noqa: B027  # most agents hold no resources
        """Release resources other than memory, such as a process or a connection."""

    def __repr__(self) -> str:
        if self.name:
            return f"agents.make({self.name!r})"
        given = (f"{key}={_shown(value)}" for key, value in self._given.items())
        return f"{type(self).__name__}({', '.join(given)})"


def _shown(value: Any) -> str:
    """Return a value's text for a ``repr``; ``...`` if no text can reproduce the value."""
    return repr(value) if isinstance(value, str | int | float | None) else "..."


def is_written_for_choice(agent: Agent, name: str) -> bool:
    """Whether an attribute belongs to the methods by which the agent chooses.

    Python looks a name up in the instance, then in its class, then in the base classes. An
    attribute counts if it stands no later in this order than ``choose`` and ``search``.
    """
    own = vars(agent)
    if name in own:
        return True
    return own.keys().isdisjoint(CHOICES) and _is_written_in_class(type(agent), name)


@functools.cache  # asked at every move of an environment
def _is_written_in_class(kind: type, name: str) -> bool:
    owners = [*map(vars, kind.__mro__)]

    def place(attribute: str) -> int:
        return next((i for i, names in enumerate(owners) if attribute in names), len(owners))

    return place(name) <= min(map(place, CHOICES))


class Derived:
    """A class attribute computed from the agent; a subclass or an instance may replace it.

    A ``property`` would refuse ``agent.deterministic = False``.
    """

    def __init__(self, compute: Callable[[Any], Any]) -> None:
        self._compute = compute

    def __get__(self, agent: Any, kind: type | None = None) -> Any:
        return self if agent is None else self._compute(agent)


def derived(compute: Callable[[Any], Any]) -> Any:
    """Return :class:`Derived`, typed as the value that it computes."""
    return Derived(compute)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The result of a search, for the side to move.

    A greater ``value`` is better for that side. The ``principal_variation`` starts with ``column``.

    Example:
        >>> result = make("alphabeta:depth=4").search(Position.parse("4455"))
        >>> result.column, result.principal_variation
        (2, (2, 3, 1))
    """

    column: int
    value: float
    nodes: int  # positions visited below the root
    depth: int  # plies searched, the agent's own move included
    principal_variation: tuple[int, ...]  # 0-based columns, the chosen column first


def line_of_play(
    position: Position, reply: Callable[[Position, int], int], plies: float = inf
) -> tuple[int, ...]:
    """Return the columns that both sides play from a position on, to the end of the game.

    Args:
        position: the first position.
        reply: the column to play in a position, given the number of columns before it.
        plies: the most columns.
    """
    line: list[int] = []
    while position.outcome is None and len(line) < plies:
        line.append(reply(position, len(line)))
        position = position.play(line[-1])
    return tuple(line)


class SearchingAgent(Agent):
    """An agent that searches and reports value, nodes and principal variation.

    Example:
        >>> make("alphabeta:depth=4").search(Position.parse("4455")).column
        2
    """

    def choose(self, position: Position) -> int:
        """Choose the 0-based column to play; set :attr:`nodes`."""
        column, _, self.nodes = self._best(position)
        return column

    def _best(self, position: Position) -> tuple[int, float, int]:
        """Return a search's column, value and nodes; an override spares the principal variation."""
        result = self.search(position)
        return result.column, result.value, result.nodes

    @abc.abstractmethod
    def search(self, position: Position) -> SearchResult:
        """Return the column that :meth:`choose` plays, with its value and principal variation."""


class FunctionAgent(Agent):
    """An agent that passes observations to a function or to another library's policy.

    The agent counts as stochastic, since the function may draw random numbers, unless the function
    has ``deterministic = True``. A new game calls the function's ``reset(seed)`` if it has one.
    """

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function
        self.name = getattr(function, "__name__", type(function).__name__)
        self.deterministic = getattr(function, "deterministic", False) is True

    def reset(self, seed: Any = None) -> None:
        """Call the function's ``reset``, if any."""
        reset_player(self.function, seed)

    def reseed(self, seed: int) -> None:
        """Do nothing: a function gets a seed for each game, not for each move."""

    @property
    def answers_together(self) -> bool:
        """Whether :meth:`choose_many` may differ from :meth:`choose`: False."""
        return False

    def choose(self, position: Any) -> int:
        """Return the function's column for the observation of the side to move."""
        from ..observation import observe

        return self._column(observe(position))

    def choose_many(self, discs: Int64s, seeds: Int64s) -> Int64s:
        """Ask the function about each board; the seeds are not used."""
        from ..envs.batch import observed

        seen = observed(discs)
        planes, masks = seen["observation"], seen["action_mask"]
        columns = np.empty(len(discs), np.int64)
        for i in range(len(discs)):
            columns[i] = self._column({"observation": planes[i], "action_mask": masks[i]})
        return columns

    def _column(self, observation: Any) -> int:
        """Return the function's column."""
        from ..position import parse_column  # compiles the rules

        try:
            answer = self.function(observation)
            self.nodes = getattr(self.function, "nodes", 0)
        except IndexError as error:
            raise InvalidAction(f"{type(error).__name__}: {error}; {HINT}") from error
        if np.shape(answer) if hasattr(answer, "shape") else isinstance(answer, list | tuple):
            shown = " ".join(repr(answer).split())[:60]
            raise InvalidAction(f"{shown}: expected one column; {HINT}")
        return parse_column(answer)


def function_agent(function: Callable[[Any], Any]) -> FunctionAgent:
    """Make the agent that a function of one observation is.

    Raises:
        InvalidOption: the function takes other arguments.
    """
    try:
        inspect.signature(function).bind(None)
    except TypeError as error:
        raise InvalidOption(
            f"agent {getattr(function, '__name__', function)!r}: {error}: expected a function of "
            "one observation, or of observations and masks; of (observation, configuration), use "
            "kaggle:FILE.py; a heuristic, use alphabeta:heuristic=FILE.py:NAME"
        ) from None
    except ValueError:  # Python cannot find the signature
        pass
    return FunctionAgent(function)


def parameters_of(target: Callable[..., Any]) -> Mapping[str, inspect.Parameter] | None:
    """Return a callable's parameters; None if Python cannot find them, as for ``max``."""
    try:
        return inspect.signature(target).parameters
    except (TypeError, ValueError):
        return None


def is_model(thing: object) -> bool:
    """Return True if an object is a network or model that :func:`c4env.agents.make` accepts.

    PyTorch's modules are, the algorithms of Stable-Baselines3, and functions of observations and
    masks.
    """
    kinds = [getattr(sys.modules.get(module), name, ()) for module, name in _MODELS]
    if isinstance(thing, Agent | type) or not (callable(thing) or isinstance(thing, tuple(kinds))):
        return False
    return isinstance(thing, tuple(kinds)) or has_masks(thing)


def has_masks(function: Any) -> bool:
    """Return True if a function's second parameter, required or named so, is for action masks.

    A heuristic and a submission to Kaggle, which have other parameters, are told by their names.
    """
    places = [
        parameter
        for parameter in (parameters_of(function) or {}).values()
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    if len(places) < 2 or any(place.default is place.empty for place in places[2:]):
        return False
    second = places[1]
    if second.name == "theirs" or second.name.startswith("conf"):
        return False
    return second.default is second.empty or "mask" in second.name


def as_number(seed: int | np.random.SeedSequence | None) -> int | None:
    """Return a seed as an integer; None stays None."""
    if isinstance(seed, np.random.SeedSequence):
        return int(seed.generate_state(1, np.uint64)[0])
    return seed


def require_count(name: str, value: object, low: int, high: int) -> int:
    """Return an option's value if it is an integer from ``low`` to ``high``."""
    expected = f"an integer between {low} and {high}"
    return require_integer(name, value, low, expected, high=high)


def require_move(position: Position) -> None:
    """Raise an error if a position has no legal move.

    Raises:
        InvalidPosition: ``position`` is not a position of this board.
        IllegalMove: the game is over.
    """
    if _check()(position).outcome is not None:
        raise IllegalMove(f"{position!r}: the game is over; there is no move to choose")


@functools.cache
def _check() -> Callable[[object], Position]:
    from ..position import require_position  # compiles kernels, which ``c4 list`` must avoid

    return require_position
