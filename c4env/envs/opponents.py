"""Opponents in the environments: everything from which ``agents.make`` makes an agent.

An opponent is a name, an agent, a model, or a function. A function maps one observation to a
column; a function marked by :func:`batched` maps M observations to M columns. The environments play
``"random"`` themselves, and every other opponent as an agent, through a :class:`Follower`.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from numpy.typing import ArrayLike

from c4env.arrays import Float64s, Int64s
from c4env.errors import InvalidOption, OpponentFailed

if TYPE_CHECKING:
    from ..observation import Observation
    from ..position import Position

RANDOM: Final = "random"
"""The name of the opponent that the environments play themselves."""

_BY_NAME: Final = {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
_BY_PLACE: Final = {
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.VAR_POSITIONAL,
}

Answering = TypeVar("Answering")


class Opponent(Protocol):
    """A function that plays against the caller of an environment.

    Example:
        >>> def leftmost(observation):
        ...     return observation["action_mask"].argmax()
        >>> observation, info = ConnectFourEnv(leftmost, seat=1).reset(seed=1)
        >>> info["ply"]  # the opponent has moved
        1
    """

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
            ``"action_mask"`` int8 ``[M, 7]`` to integers ``[M]``, or to a preference for each
            column, floats ``[M, 7]``. Marking a class marks all its objects.

    Returns:
        the function itself, or for a bound method, which cannot be marked, a wrapper.

    Example:
        >>> @batched
        ... def leftmost(observation):
        ...     return observation["action_mask"].argmax(axis=1)
        >>> envs = ConnectFourVectorEnv(256, opponent=leftmost)

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
    """Plays an agent's moves in one environment.

    ``boards``, int64 ``[M]``, has the indices of the M boards of a call. Each board has its own
    stream of seeds, int64 ``[M]`` below 2**48, so the opponent's random numbers on a board depend
    only on that board's seed. An agent that needs to know which moves belong to one game, such as
    ``agents.Pool``, returns its own kind of follower from ``Agent.follower``.
    """

    def __init__(self, agent: Any) -> None:
        self.agent = agent

    def reset(self, seed: int) -> None:
        """Forget all games; the environment calls this when it resets all boards."""
        if self.agent.draws:
            reset_player(self.agent, seed)

    def begin(self, boards: Int64s, seeds: Int64s) -> None:
        """Begin new games on these boards."""

    def columns(self, discs: Int64s, boards: Int64s, seeds: Int64s) -> ArrayLike:
        """Choose columns ``[M]``, given bitboards int64 ``[M, 2]``; see ``Agent.play_many``."""
        return self.agent.play_many(discs, seeds)  # type: ignore[no-any-return]  # Any

    def choose(self, position: Position, seeds: Int64s) -> Any:
        """Choose a column on the board of ``ConnectFourEnv``, where an agent may keep its game."""
        return self.agent.choose(position)

    def end(self, boards: Int64s, rewards: Float64s) -> None:
        """Count the caller's rewards ``[M]`` of games that end on these boards in this step."""

    def uncount(self) -> None:
        """Take back the latest count, since the step failed after all."""


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
    """Reset an opponent; an error of the opponent's own becomes :class:`OpponentFailed`."""
    try:
        follower.reset(seed)
    except Exception as error:
        raise OpponentFailed(
            f"the opponent's reset raised {type(error).__name__}: {error}"
        ) from error


def follower_of(opponent: AnyOpponent) -> Follower | None:
    """Return an opponent's :class:`Follower`; None for ``"random"`` and None."""
    if opponent is None or (isinstance(opponent, str) and opponent == RANDOM):
        return None
    # Imported by name, since c4env must not depend on agents.
    agents = importlib.import_module("..agents", __package__)
    try:
        follower: Follower = agents.make(opponent).follower()
    except InvalidOption as error:
        if isinstance(opponent, str):
            raise
        raise InvalidOption(
            f"opponent={opponent!r}: expected 'random', an agent, an agent's name, a model, a "
            f"function of one observation, or a function marked by c4env.batched ({error})"
        ) from None
    return follower
