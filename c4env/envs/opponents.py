"""Opponents in the environments, and the interface through which they play.

An opponent is a name, an agent, a model, or a function. A function maps one observation to a
column; a function marked by :func:`batched` maps M observations to M columns. The
environments play ``"random"`` themselves and every other opponent through a :class:`Follower`.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from c4env.arrays import Float64s, Int64s
from c4env.boards import require_board
from c4env.errors import InvalidAction, InvalidOption, OpponentFailed

from ..geometry import BOARD_SIZE

if TYPE_CHECKING:
    from ..observation import Observation

RANDOM: Final = "random"
"""The name of the opponent that the environments play themselves."""

HINT: Final = "a function that answers for many boards must be marked by c4env.batched"

_BY_NAME: Final = {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
_BY_PLACE: Final = {
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.VAR_POSITIONAL,
}

Answering = TypeVar("Answering")


class Opponent(Protocol):
    """A function that plays against the caller of an environment."""

    def __call__(self, observation: Observation, /) -> ArrayLike:
        """Return the 0-based column to play.

        Args:
            observation: as ``c4env.observe`` makes it; for a function marked by
                :func:`batched`, planes int8 ``[M, 6, 7, 2]`` and masks int8 ``[M, 7]``.

        Returns:
            an integer, or integers ``[M]``.
        """


class Model(Protocol):
    """A model of Stable-Baselines3, which is not callable but has a policy."""

    @property
    def policy(self) -> Any:
        """The model's policy."""


AnyOpponent = str | Opponent | Model | None


def batched(function: Answering) -> Answering:
    """Mark a function that chooses for many boards at once; a decorator.

    Args:
        function: maps a dict of ``"observation"`` int8 ``[M, 6, 7, 2]`` and
            ``"action_mask"`` int8 ``[M, 7]`` to integers ``[M]``. Marking a class marks all its
            objects.

    Returns:
        the function itself, or for a bound method, which cannot be marked, a wrapper.

    Example:
        @c4env.batched
        def leftmost(observation):
            return observation["action_mask"].argmax(axis=1)

        envs = ConnectFourVectorEnv(256, opponent=leftmost)

    Raises:
        InvalidOption: ``function`` cannot be called.
    """
    if not callable(function):
        raise InvalidOption(f"batched({function!r}): expected a function")
    marked: Any = function
    try:
        marked.c4env_batched = True
    except (AttributeError, TypeError):
        marked = functools.partial(marked)
        marked.c4env_batched = True
    made: Answering = marked  # the function or a wrapper with its signature
    return made


def is_batched(function: object) -> bool:
    """Return True if :func:`batched` marked the function."""
    return getattr(function, "c4env_batched", False) is True


class Follower:
    """Plays an opponent's moves in one environment, and may keep track of the games there.

    The argument ``boards``, int64 ``[M]``, has the indices of the M boards of a call. Each board
    has its own stream of seeds below 2**48, so the opponent's random numbers on a board depend only
    on that board's seed. An opponent may define ``follow``, which returns a follower.
    If a follower has a method ``choose``, ``ConnectFourEnv`` calls ``choose(position)`` instead of
    ``columns``.

    Attributes:
        draws: True if the opponent uses random numbers and therefore needs the seeds.
    """

    draws: bool = False

    def reset(self, seed: int) -> None:
        """Forget all games; the environment calls this when it resets all boards."""

    def begin(self, boards: Int64s, seeds: Int64s) -> None:
        """Begin new games on these boards."""

    def columns(self, discs: Int64s, boards: Int64s, seeds: Int64s) -> ArrayLike:
        """Choose columns ``[M]``, integers, on these boards.

        Args:
            discs: int64 ``[M, 2]``, bitboards of the side to move and of the other side; read only.
            boards: int64 ``[M]``, the indices of the boards.
            seeds: int64 ``[M]``, new seeds in each call.

        Raises:
            OpponentFailed: the opponent did not return M columns.
            Exception: any error of the opponent; the environment raises OpponentFailed from it.
        """
        raise NotImplementedError

    def end(self, boards: Int64s, rewards: Float64s) -> None:
        """Record that the games on these boards ended, and the caller's rewards ``[M]``."""

    def save(self) -> Any:
        """Return a copy of the state, so that a failed step can be undone."""

    def restore(self, saved: Any) -> None:
        """Restore what :meth:`save` returned."""


class FunctionFollower(Follower):
    """A follower that calls a function for one observation, or a :func:`batched` one for M."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.draws = hasattr(function, "reset")

    def reset(self, seed: int) -> None:
        """Reset a function that has a method ``reset``."""
        reset_player(self.function, seed)

    def columns(self, discs: Int64s, boards: Int64s, seeds: Int64s) -> ArrayLike:
        """Return the function's columns; see :class:`Follower`."""
        from .vectorized.batch import observed, parse_actions  # compiles the rules

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
            except IndexError as error:  # from a function that indexes the axis of boards
                raise OpponentFailed(f"{where}{type(error).__name__}: {error}; {HINT}") from error
            try:
                columns[i] = one_column(answer)
            except InvalidAction as error:
                raise OpponentFailed(f"{where}{error}") from None
        return columns


def reset_player(player: Any, seed: Any) -> None:
    """Begin a new game of an agent or function: call its method ``reset``, if it has one.

    A parameter ``seed`` gets the seed by name; otherwise the first positional parameter gets it.
    Without such a parameter, ``reset`` is called without arguments.
    """
    reset = getattr(player, "reset", None)
    if not callable(reset):
        return
    try:
        parameters = inspect.signature(reset).parameters
    except (TypeError, ValueError):  # Python cannot find them, as for some functions in C
        reset(seed)
        return
    kinds = {name: parameter.kind for name, parameter in parameters.items()}
    if kinds.get("seed", inspect.Parameter.POSITIONAL_ONLY) in _BY_NAME:
        reset(seed=seed)
    elif _BY_PLACE & set(kinds.values()):
        reset(seed)
    else:
        reset()


def reset_opponent(follower: Follower, seed: int) -> None:
    """Reset an opponent.

    Raises:
        OpponentFailed: the opponent's ``reset`` raised an error.
    """
    try:
        follower.reset(seed)
    except Exception as error:
        raise OpponentFailed(
            f"the opponent's reset raised {type(error).__name__}: {error}"
        ) from error


def one_column(answer: object) -> int:
    """Check what a function returned for one observation, and return the column.

    Raises:
        InvalidAction: the answer is not one integer.
    """
    from ..position import parse_column  # compiles the rules

    if np.shape(answer) if hasattr(answer, "shape") else isinstance(answer, list | tuple):
        shown = " ".join(repr(answer).split())[:60]
        raise InvalidAction(f"{shown}: expected one column; {HINT}")
    return parse_column(answer)


def follows(opponent: Any) -> bool:
    """Return True if an opponent has a method ``follow``, which returns a :class:`Follower`."""
    return callable(getattr(opponent, "follow", None))


def make_follower(opponent: AnyOpponent, *, many: bool = True) -> Follower | None:
    """Return an opponent's :class:`Follower`; None for ``"random"``, which needs no follower.

    Args:
        opponent: as in the module's docstring; None means ``"random"``.
        many: whether the environment has several boards. With one board, an agent plays as in
            any game. With several boards, the agent keeps no memory of a game.

    Raises:
        InvalidOption: the argument is not an opponent.
        WrongBoard: the opponent plays on a board of another size.
        UnknownAgent, InvalidSpec, UnknownOption, InvalidValue: the opponent's spec is wrong.
    """
    given: Any = opponent
    if given is None or (isinstance(given, str) and given == RANDOM):
        return None
    require_board(given, BOARD_SIZE, given)
    if follows(given):
        made: Follower = given.follow()
        return made
    # Imported by name, since c4env must not depend on agents; they are the agents of this board.
    if not (is_batched(given) or inspect.isroutine(given) or isinstance(given, functools.partial)):
        root = __name__.rpartition(".envs.")[0]
        agents = importlib.import_module(f"{root}.agents.batched")
        found: Follower | None = agents.follower_of(given, many=many)
        if found is not None:
            return found
    if not callable(given):
        raise InvalidOption(
            f"opponent={given!r}: expected 'random', an agent, an agent's name, a model, a "
            "function of one observation, or a function marked by c4env.batched"
        )
    return FunctionFollower(given)
