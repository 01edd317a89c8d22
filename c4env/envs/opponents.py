"""Opponents in the environments: anything from which ``agents.make`` can make an agent.

An opponent is a name, an agent, a network, or a function of one observation. A network answers for
M boards: a PyTorch module, a model of Stable-Baselines3, or a function marked by :func:`batched`.
The environments play ``"random"`` themselves, and every other opponent as an agent.

The state of a board's stream of random numbers (``c4env.envs.kernels``) is the seed of the
opponent's next move on the board.
"""

from __future__ import annotations

import functools
import inspect
import types
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from numpy.typing import ArrayLike

from c4env.errors import InvalidOption, OpponentFailed, brief
from c4env.lazy import agents_module

if TYPE_CHECKING:
    from c4env.observation import Observation

RANDOM: Final = "random"
"""The name of the opponent that the environments play themselves."""

_BY_NAME: Final = {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
_BY_PLACE: Final = {
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.VAR_POSITIONAL,
}

Function = TypeVar("Function")


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


class PolicyModel(Protocol):
    """A model of Stable-Baselines3, which is not callable but has a policy."""

    @property
    def policy(self) -> Any:
        """The model's policy."""


class LogitsNetwork(Protocol):
    """A network: a PyTorch module, or a function marked by :func:`batched`
    (``c4env.agents.making.networks.network``)."""

    def __call__(self, observations: Any, masks: Any, /) -> Any:
        """Return logits ``[M, 7]``, or a tuple of logits and values ``[M]``."""


AnyOpponent = str | Opponent | LogitsNetwork | PolicyModel | None
"""The spec of an agent, a function, a network, a model, or None."""


def batched(function: Function) -> Function:
    """Mark a function that answers for many boards at once; a decorator.

    Args:
        function: takes observations int8 ``[M, 6, 7, 2]`` and masks int8 ``[M, 7]``: as two
            arguments if it requires two, else as a dict of ``"observation"`` and
            ``"action_mask"``. The function returns columns, integers ``[M]``; or logits
            ``[M, 7]``; or a tuple of logits and values ``[M]``. A marked class marks its objects.

    Returns:
        the function itself. For a bound method, which cannot be marked, a wrapper.

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
    result: Function = marked  # the function or a wrapper with its signature
    return result


def is_batched(function: object) -> bool:
    """Return True if :func:`batched` marked the function, its class or the method ``__call__``."""
    kind = function if isinstance(function, type) else type(function)
    marked = (function, getattr(kind, "__call__", None))  # noqa: B004  # it is read, not asked for
    return any(getattr(one, "c4env_batched", False) is True for one in marked)


def reset_player(player: Any, seed: Any) -> None:
    """Begin a new game of an agent or function: call its method ``reset``, if it has one.

    A parameter ``seed`` gets the seed by name; otherwise the first positional parameter gets it.
    If ``reset`` takes no argument, it is called without arguments.
    """
    reset = getattr(player, "reset", None)
    if not callable(reset):
        return
    try:
        method = isinstance(reset, types.MethodType)
        kinds = _kinds_of_method(reset.__func__) if method else _kinds(reset)
    except (TypeError, ValueError):  # Python cannot find them, as for some functions in C
        reset(seed)
        return
    if kinds.get("seed", inspect.Parameter.POSITIONAL_ONLY) in _BY_NAME:
        reset(seed=seed)
    elif _BY_PLACE & set(kinds.values()):
        reset(seed)
    else:
        reset()


def _kinds(function: Any) -> dict[str, Any]:
    """Return the kind of each parameter."""
    parameters = inspect.signature(function).parameters
    return {name: parameter.kind for name, parameter in parameters.items()}


@functools.lru_cache(256)  # agents that draw are reset before each move
def _kinds_of_method(function: Any) -> dict[str, Any]:
    """Return the kind of each parameter except ``self``."""
    return _kinds(types.MethodType(function, function))


def reset_opponent(agent: Any, seed: int) -> None:
    """Reset an opponent; an error that its ``reset`` raises becomes :class:`OpponentFailed`."""
    try:
        reset_player(agent, seed)
    except Exception as error:
        raise OpponentFailed(
            f"the opponent's reset raised {type(error).__name__}: {error}"
        ) from error


def require_same_play(self_play: bool, opponent: object) -> None:
    """Raise InvalidOption if another opponent would change games to or from self-play."""
    if self_play != (opponent is None):
        now = "self-play" if self_play else "games against an opponent"
        what = f"opponent={brief(opponent)}: these boards were made for {now}"
        raise InvalidOption(f"{what}, which cannot change")


def exact_rewards(wanted: bool) -> Any:
    """Return the function from boards and columns to exact rewards; None if not wanted."""
    return agents_module("rewards").of_boards if wanted else None


def agent_of(opponent: AnyOpponent) -> Any:
    """Return an opponent as an agent; None for ``"random"`` and None."""
    if opponent is None or (isinstance(opponent, str) and opponent == RANDOM):
        return None
    try:
        return agents_module("making.spec").make(opponent)
    except InvalidOption as error:
        if isinstance(opponent, str):
            raise
        reason = str(error).removeprefix(f"agent {brief(opponent)}: ")
        raise InvalidOption(f"opponent={brief(opponent)}: {reason}") from None
