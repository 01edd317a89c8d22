"""The interface of an agent: it chooses a column in a position.

All agents derive from :class:`Agent`, and agents that search from :class:`SearchingAgent`.
"""

from __future__ import annotations

import abc
import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from c4env.arrays import Float64s, Int64s
from c4env.envs.opponents import reset_player
from c4env.envs.streams import STATES, next_random
from c4env.errors import IllegalMove, InvalidOption, require_integer
from c4env.observation import position_from
from c4env.position import Position, parse_column, require_position

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BOARD: Final = np.zeros(1, np.int64)  # the number of the board if there is only one


def is_ours(agent: Agent) -> bool:
    """Return whether this package defines all methods of an agent.

    A class of this package may promise that ``choose`` is deterministic, or that a kernel plays
    identical moves on many boards. The promise fails for a user's class that derives from it and
    overrides a method.
    """
    return _has_our_methods(type(agent))


@functools.cache
def _has_our_methods(cls: type) -> bool:
    for kind in cls.__mro__:
        if kind.__module__.startswith("c4env."):
            return True
        members = (value for name, value in vars(kind).items() if not name.startswith("__"))
        if any(callable(member) or hasattr(member, "__get__") for member in members):
            return False
    return False


class _Deterministic:
    """The attribute ``deterministic`` of an agent whose class or object does not set it."""

    def __get__(self, agent: Agent | None, kind: object) -> bool:
        return agent is not None and is_ours(agent) and agent._repeats


class Agent(abc.ABC):
    """A policy: chooses a 0-based column in a position.

    :meth:`choose` is the one method to write. Tournaments and environments play its columns.

    An agent plays one game at a time for one caller, so give each thread its own agent. A copy
    made by ``copy.deepcopy`` includes the random state and plays on as the original would. If an
    agent uses a program, a server or a bot, the copy starts its own.

    Attributes:
        name: the spec that made the agent; empty if the class was called directly.
        deterministic: True when the agent always plays the same column in the same position,
            whatever the seed. If all agents of a run are deterministic and the run plays all
            openings, a report calls the result exact.
        nodes: number of positions that the latest :meth:`choose` or :meth:`search` searched; 0
            for agents that do not search.
        movetime: seconds for each move if the clock limits the search, else None. With a
            clock, two runs of the same game may differ.

    Example:
        >>> class Leftmost(Agent):
        ...     def choose(self, position):
        ...         return position.legal_columns()[0]
        >>> Leftmost().choose(Position.parse("4"))
        0
    """

    deterministic: bool = _Deterministic()  # type: ignore[assignment]  # a descriptor that gives a bool
    name: str = ""
    nodes: int = 0
    movetime: float | None = None
    _arguments: Mapping[str, Any] = MappingProxyType({})  # as checked, for repr

    @property
    def _repeats(self) -> bool:
        """Whether the methods of a class of this package are deterministic."""
        return False

    @final
    def __call__(self, observation: Mapping[str, Any] | NDArray[Any]) -> int:
        """Return the column that :meth:`choose` plays for an observation."""
        return self.choose(position_from(observation))

    def reset(self, seed: int | np.random.SeedSequence | None = None) -> None:  # noqa: B027  # most have nothing to do
        """Begin a new game; a stochastic agent restarts its generator from ``seed``."""

    def reseed(self, seed: int) -> None:
        """Restart the random generator from a seed, and forget the game.

        An environment calls this method before every move of a stochastic agent, so that boards
        do not influence each other. An override may keep parts that are expensive to build and do
        not depend on the seed.
        """
        reset_player(self, seed)

    @abc.abstractmethod
    def choose(self, position: Position) -> int:
        """Choose the 0-based column to play.

        Raises:
            IllegalMove: the game is over.
        """

    def search(self, position: Position) -> SearchResult:
        """Return the column that :meth:`choose` plays, with its value and principal variation.

        Raises:
            IllegalMove: the game is over.
            InvalidOption: the agent is not a :class:`SearchingAgent`.
        """
        require_move(position)
        raise InvalidOption(f"{self!r} does not search: expected an agent such as alphabeta")

    def ready(self) -> None:  # noqa: B027  # most need nothing
        """Check before a run that the agent has what it needs, such as a program that starts.

        Raises:
            C4Error: the agent cannot play.
        """

    def close(self) -> None:  # noqa: B027  # most agents hold no resources
        """Release resources other than memory, such as a process or a connection."""

    def choose_many(self, discs: Int64s, seeds: Int64s) -> Int64s:
        """Choose columns, int64 ``[M]``, on M boards of unfinished games.

        The agent does not remember the games. A stochastic agent is reseeded before each move, so
        that boards do not influence each other. Override this method to choose on all boards at
        once (:class:`BatchAgent`).

        Args:
            discs: int64 ``[M, 2]``, bitboards of the side to move and of the other side. The agent
                must not change them.
            seeds: int64 ``[M]`` below 2**48.
        """
        return self._ask_each(discs, seeds)

    def _ask_each(self, discs: Int64s, seeds: Int64s) -> Int64s:
        """Choose by :meth:`choose` on one board after the other, as :meth:`choose_many` does."""
        columns, draws = np.empty(len(discs), np.int64), not self.deterministic
        for i, (mine, theirs) in enumerate(discs.tolist()):
            if draws:
                self.reseed(int(seeds[i]))
            columns[i] = self.choose(Position.from_bitboards(mine, theirs))
        return columns

    def games(self, boards: int) -> Games:
        """Return the agent's games on the boards of an environment, 0 to ``boards - 1``.

        The games use whichever of :meth:`choose` and :meth:`choose_many` the most derived class
        overrides. With one board and a deterministic agent, they use :meth:`choose`. A
        deterministic agent is reset now, because no seed resets it before a move.
        """
        if self.deterministic:
            reset_player(self, None)
        asked = "choose_many", "choose"
        written = [name for kind in type(self).__mro__ for name in asked if name in vars(kind)]
        if written[0] == "choose" or (boards == 1 and self.deterministic):
            return _OneByOne(self)
        return Games(self)

    def __repr__(self) -> str:
        if self.name:
            return f"agents.make({self.name!r})"
        arguments = (f"{key}={_repr_of(value)}" for key, value in self._arguments.items())
        return f"{type(self).__name__}({', '.join(arguments)})"


class BatchAgent(Agent):
    """An agent that writes only :meth:`choose_many`, which :meth:`choose` calls for one board.

    If a subclass overrides only :meth:`choose`, that method plays, board by board.
    ``c4env.envs.batch.observed(discs)`` returns the observations of the boards.

    Example:
        >>> class Middle(BatchAgent):
        ...     def choose_many(self, discs, seeds):
        ...         return np.full(len(discs), 3)
        >>> Middle().choose(Position.parse("4"))
        3
    """

    _state: int = 0  # the seed of the next column

    def __init__(self) -> None:
        BatchAgent.reset(self)

    def reset(self, seed: int | np.random.SeedSequence | None = None) -> None:
        """Begin a new game; the same seed gives the same seeds to :meth:`choose_many`."""
        if not isinstance(seed, np.random.SeedSequence):
            seed = np.random.SeedSequence(seed)
        self.reseed(int(seed.generate_state(1, np.uint64)[0]))

    def reseed(self, seed: int) -> None:
        """Set the seed of the next column."""
        self._state = seed % STATES

    def choose(self, position: Position) -> int:
        """Choose the 0-based column to play.

        Raises:
            IllegalMove: the game is over.
            InvalidAction: :meth:`choose_many` does not return one integer for the board.
        """
        require_move(position)
        columns = self.choose_many(*_one_board(position, self._state))
        self._state = next_random(self._state)
        return _one_column(columns)

    @abc.abstractmethod
    def choose_many(self, discs: Int64s, seeds: Int64s) -> Int64s:
        """Choose columns, int64 ``[M]``, as :meth:`Agent.choose_many` describes."""


class Games:
    """An agent and its games, one game per board of an environment.

    An agent that treats each game separately returns a subclass from :meth:`Agent.games`.

    Example:
        >>> games, boards = make("greedy").games(2), np.arange(2)
        >>> games.begin(boards, seeds=boards)
        >>> games.choose(boards, discs=np.zeros((2, 2), int), seeds=boards)
        array([3, 3])
    """

    def __init__(self, agent: Agent) -> None:
        self.agent = agent

    def begin(self, boards: Int64s, seeds: Int64s) -> None:
        """Begin new games on boards ``[M]``, with seeds as for :meth:`Agent.choose_many`."""

    def choose(self, boards: Int64s, discs: Int64s, seeds: Int64s) -> Int64s:
        """Choose columns on boards ``[M]``, as :meth:`Agent.choose_many` does."""
        return self.agent.choose_many(discs, seeds)

    def choose_one(self, position: Position, seed: int) -> int:
        """Choose the column on the only board, as :meth:`choose` does."""
        return _one_column(self.choose(_BOARD, *_one_board(position, seed)))

    def end(self, boards: Int64s, rewards: Float64s) -> None:
        """End games on boards ``[M]``, with the caller's rewards ``[M]``."""


class _OneByOne(Games):
    """Games in which ``choose`` plays on one board after the other."""

    def choose(self, boards: Int64s, discs: Int64s, seeds: Int64s) -> Int64s:
        """Choose columns on boards ``[M]``."""
        return self.agent._ask_each(discs, seeds)

    def choose_one(self, position: Position, seed: int) -> int:
        """Choose the column on the only board."""
        if not self.agent.deterministic:
            self.agent.reseed(seed)
        return parse_column(self.agent.choose(position))


def _one_board(position: Position, seed: int) -> tuple[Int64s, Int64s]:
    """Return a position and a seed as :meth:`Agent.choose_many` takes them."""
    return np.array([[position.mine, position.theirs]]), np.array([seed])


def _one_column(columns: Int64s) -> int:
    """Return the column that was answered for one board."""
    from c4env.envs.batch import parse_actions  # compiled

    return int(parse_actions(columns, 1)[0])


def _repr_of(value: Any) -> str:
    """Return a value's text for a ``repr``; ``...`` if no text can reproduce the value."""
    return repr(value) if isinstance(value, str | int | float | None) else "..."


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
    nodes: int  #: positions visited below the root
    depth: int  #: plies searched, the agent's own move included
    principal_variation: tuple[int, ...]  #: 0-based columns, the chosen column first


class SearchingAgent(Agent):
    """An agent that searches and reports value, nodes and principal variation.

    :meth:`search` is the one method to write; :meth:`choose` plays its column and sets
    ``nodes``.

    Example:
        >>> make("alphabeta:depth=4").search(Position.parse("4455")).column
        2
    """

    def choose(self, position: Position) -> int:
        """Choose the 0-based column to play; set ``nodes``."""
        result = self.search(position)
        self.nodes = result.nodes
        return result.column

    @abc.abstractmethod
    def search(self, position: Position) -> SearchResult:
        """Return the column that :meth:`choose` plays, with its value and principal variation."""


class LineSearch(SearchingAgent):
    """A search that finds a column first, and then its principal variation reply by reply.

    :meth:`choose` does not search the replies. ``nodes`` does not count their searches.
    """

    def choose(self, position: Position) -> int:
        """Choose the 0-based column to play; set :attr:`nodes`."""
        if type(self).search is not LineSearch.search:  # a user's search decides
            return super().choose(position)
        require_move(position)
        column, _, self.nodes, _ = self._best(position)
        return column

    def search(self, position: Position) -> SearchResult:
        """Return the column that :meth:`choose` plays, with its value and principal variation."""
        require_move(position)
        column, value, nodes, depth = self._best(position)
        self.nodes = nodes
        line = line_of_play(position.play(column), self._reply, depth - 1)
        return SearchResult(column, value, nodes, depth, (column, *line))

    @abc.abstractmethod
    def _best(self, position: Position) -> tuple[int, float, int, int]:
        """Return the column to play, its value, the nodes and the depth of the search."""

    @abc.abstractmethod
    def _reply(self, after: Position, ply: int) -> int | None:
        """Return the line's column after ``ply`` other columns; None if it is unknown."""


def line_of_play(
    position: Position, reply: Callable[[Position, int], int | None], plies: float = inf
) -> tuple[int, ...]:
    """Return the columns that both sides play from a position on, to the end of the game.

    Args:
        position: the first position.
        reply: a function of a position and the number of columns before it. The function returns
            a column, or None to end the line.
        plies: the greatest number of columns.
    """
    line: list[int] = []
    while position.outcome is None and len(line) < plies:
        column = reply(position, len(line))
        if column is None:
            break
        line.append(column)
        position = position.play(column)
    return tuple(line)


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
    if require_position(position).outcome is not None:
        raise IllegalMove(f"{position!r}: the game is over, so no column can be chosen")
