"""What plays against the caller of an environment, and how the environment asks it.

An opponent is a name, an agent, a model, or a function. A function is given one observation and
returns a column; marked by :func:`batched`, it is given those of M boards and returns M columns.
An environment plays ``"random"`` itself. Everything else it asks through a :class:`Follower`.
"""

from __future__ import annotations

__any_board__ = True

import functools
import importlib
import inspect
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from c4env.arrays import Float64s, Int64s
from c4env.boards import require_board
from c4env.errors import InvalidAction, InvalidOption, OpponentFailed
from c4env.geometry import BOARD_SIZE

if TYPE_CHECKING:
    from c4env.observation import Observation

RANDOM: Final = "random"
"""The opponent that the environments play themselves."""

HINT: Final = "a function that answers for many boards is marked by c4env.batched"

Answering = TypeVar("Answering")


class Opponent(Protocol):
    """A function that plays against the caller of an environment."""

    def __call__(self, observation: Observation, /) -> ArrayLike:
        """The 0-based column to play, for what ``c4env.observe`` shows of the board.

        Marked by :func:`batched`, it returns M of them, integers ``[M]``, for observations int8
        ``[M, 6, 7, 2]`` and masks int8 ``[M, 7]``.
        """


class Model(Protocol):
    """An algorithm of Stable-Baselines3, which is no function but has one."""

    @property
    def policy(self) -> Any:
        """What it has learned."""


AnyOpponent = str | Opponent | Model | None


def batched(function: Answering) -> Answering:
    """Mark a function that answers for many boards at once; a decorator.

    Args:
        function: called with a dict of ``"observation"`` int8 ``[M, 6, 7, 2]`` and
            ``"action_mask"`` int8 ``[M, 7]``, it returns M columns. Of a class whose objects are
            called so, all objects are marked.

    Returns:
        the function itself; of a method, which holds no mark, one that calls it.

    Example:
        @c4env.batched
        def leftmost(observation):
            return observation["action_mask"].argmax(axis=1)

        envs = ConnectFourVectorEnv(256, opponent=leftmost)

    Raises:
        InvalidOption: it cannot be called.
    """
    if not callable(function):
        raise InvalidOption(f"batched({function!r}): expected a function")
    marked: Any = function
    try:
        marked.c4env_batched = True
    except (AttributeError, TypeError):
        marked = functools.partial(marked)
        marked.c4env_batched = True
    made: Answering = marked  # what was given, or what is called like it
    return made


def is_batched(function: object) -> bool:
    """Whether a function is marked by :func:`batched`."""
    return getattr(function, "c4env_batched", False) is True


class Follower:
    """An opponent in one environment, asked for M boards at once and told of their games.

    Boards are known by their indices, int64 ``[M]``. A seed is a number below 2**48 that comes
    from the stream of its board, so that what is drawn on a board depends on its own seed alone.
    An opponent with a method ``follow`` that returns one of these gets one for each environment.

    Attributes:
        draws: seeds mean something to it; one that draws nothing is given any.
    """

    draws: bool = False

    def reset(self, seed: int) -> None:
        """All games start anew."""

    def begin(self, boards: Int64s, seeds: Int64s) -> None:
        """New games start on these boards."""

    def columns(self, discs: Int64s, boards: Int64s, seeds: Int64s) -> ArrayLike:
        """Columns ``[M]`` on these boards.

        Args:
            discs: int64 ``[M, 2]``, of the side to move and of the other side; not to be changed.
            boards: whose discs they are.
            seeds: one each, another one at each call.

        Raises:
            OpponentFailed: it answered something else.
            Exception: whatever it raises; the environment says so.
        """
        raise NotImplementedError

    def end(self, boards: Int64s, rewards: Float64s) -> None:
        """The games on these boards are over: the caller's rewards ``[M]``, 1, 0 or -1."""

    def save(self) -> Any:
        """What the methods above change, as a copy: a step that fails is taken back."""

    def restore(self, saved: Any) -> None:
        """Go back to what :meth:`save` returned."""


class FunctionFollower(Follower):
    """A function of one observation, or of many if :func:`batched` marks it."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.draws = hasattr(function, "reset")

    def reset(self, seed: int) -> None:
        """Tell a function that has a method ``reset``."""
        if self.draws:
            self.function.reset(seed=seed)

    def columns(self, discs: Int64s, boards: Int64s, seeds: Int64s) -> ArrayLike:
        """What the function answers; see :class:`Follower`."""
        from c4env.envs.vectorized.batch import observed, parse_actions  # they compile the rules

        seen = observed(discs)
        if is_batched(self.function):
            answer = self.function(seen)
            try:
                return parse_actions(answer, len(boards))
            except InvalidAction as error:
                raise OpponentFailed(f"{error}, from a function marked by c4env.batched") from None
        planes, masks = seen["observation"], seen["action_mask"]
        columns = np.empty(len(boards), np.int64)
        for i in range(len(boards)):
            where = f"board {boards[i]}: " if len(boards) > 1 else ""
            try:
                answer = self.function({"observation": planes[i], "action_mask": masks[i]})
            except IndexError as error:  # as of one that looks for the axis of boards
                raise OpponentFailed(f"{where}{type(error).__name__}: {error}; {HINT}") from error
            try:
                columns[i] = one_column(answer)
            except InvalidAction as error:
                raise OpponentFailed(f"{where}{error}") from None
        return columns


def reset_opponent(asked: Follower, seed: int) -> None:
    """Tell an opponent that all games start anew.

    Raises:
        OpponentFailed: it raised.
    """
    try:
        asked.reset(seed)
    except Exception as error:
        raise OpponentFailed(
            f"the opponent's reset raised {type(error).__name__}: {error}"
        ) from error


def one_column(answer: object) -> int:
    """What a function answered for one observation, as a column.

    Raises:
        InvalidAction: it is none.
    """
    from c4env.position import parse_column  # it compiles the rules

    if np.shape(answer) if hasattr(answer, "shape") else isinstance(answer, list | tuple):
        shown = " ".join(repr(answer).split())[:60]
        raise InvalidAction(f"{shown}: expected one column; {HINT}")
    return parse_column(answer)


def follows(opponent: Any) -> bool:
    """Whether it makes a follower of the games of each environment; an option may be called so."""
    return callable(getattr(opponent, "follow", None))


def follower(opponent: AnyOpponent, *, many: bool = True) -> Follower | None:
    """What an environment asks for an opponent; None where it plays ``"random"`` itself.

    Args:
        opponent: see the module; None is ``"random"``.
        many: the environment has several boards, so that an agent is asked for all of them at
            once; on one board an agent is asked as in any game.

    Raises:
        InvalidOption: it is none of these.
        WrongBoard: it plays on a board of another size.
        UnknownAgent, InvalidSpec, UnknownOption, InvalidValue: no agent has the name.
    """
    given: Any = opponent
    if given is None or (isinstance(given, str) and given == RANDOM):
        return None
    require_board(given, BOARD_SIZE, given)
    if follows(given):
        made: Follower = given.follow()
        return made
    # Agents are known by name alone: those of this board, in the package beside this one.
    if not (is_batched(given) or inspect.isroutine(given) or isinstance(given, functools.partial)):
        root = __name__.rpartition(".envs.")[0]
        agents = importlib.import_module(f"{root}.agents.batched")
        found: Follower | None = agents.follower_of(given, many=many)
        if found is not None:
            return found
    if not callable(given):
        raise InvalidOption(
            f"opponent={given!r}: expected 'random', an agent or the name of one, a model, or a "
            "function of one observation, or of many marked by c4env.batched"
        )
    return FunctionFollower(given)
