"""Agents from functions: a function of one observation plays as an agent.

A function that answers for many boards is a network (``c4env.agents.networks``), and its user marks
it by ``c4env.batched``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from c4env.agents.base import Agent
from c4env.envs.opponents import reset_player
from c4env.errors import InvalidAction, InvalidOption
from c4env.observation import observe
from c4env.position import parse_column

if TYPE_CHECKING:
    from c4env.arrays import Int64s

_BATCHED_HINT: Final = "a function that answers for many boards must be marked by c4env.batched"
REMEDIES: Final = (
    "mark a function of (observations, masks) by c4env.batched; of (observation, configuration), "
    "use kaggle:FILE.py; a heuristic, use alphabeta:heuristic=FILE.py:NAME"
)
"""What to write for a function that is not of one observation, by what it may be."""


class FunctionAgent(Agent):
    """An agent that passes observations to a function or to another library's policy.

    The agent counts as stochastic, since the function may draw random numbers, unless the function
    has ``deterministic = True``. A new game calls the function's ``reset(seed)`` if it has one.
    """

    _seeds_moves = False

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function
        self.name = getattr(function, "__name__", type(function).__name__)

    @property
    def deterministic(self) -> bool:  # type: ignore[override]
        """Whether the function says that it always answers a position with the same column."""
        return getattr(self.function, "deterministic", False) is True

    def reset(self, seed: Any = None) -> None:
        """Call the function's ``reset``, if any."""
        reset_player(self.function, seed)

    def choose(self, position: Any) -> int:
        """Return the function's column for the observation of the side to move."""
        return self._column(observe(position))

    def choose_many(self, discs: Int64s, seeds: Int64s) -> Int64s:
        """Ask the function about each board; the seeds are not used."""
        from c4env.envs.batch import observed

        observations = observed(discs)
        planes, masks = observations["observation"], observations["action_mask"]
        columns = np.empty(len(discs), np.int64)
        for i in range(len(discs)):
            columns[i] = self._column({"observation": planes[i], "action_mask": masks[i]})
        return columns

    def _column(self, observation: Any) -> int:
        try:
            answer = self.function(observation)
            self.nodes = getattr(self.function, "nodes", 0)
        except IndexError as error:
            raise InvalidAction(f"{type(error).__name__}: {error}; {_BATCHED_HINT}") from error
        return column_of(answer)


def column_of(answer: Any) -> int:
    """Return the column that a function of one observation answered.

    Raises:
        InvalidAction: the answer is no column.
    """
    if np.shape(answer) if hasattr(answer, "shape") else isinstance(answer, list | tuple):
        text = " ".join(repr(answer).split())[:60]
        raise InvalidAction(f"{text}: expected one column; {_BATCHED_HINT}")
    return parse_column(answer)


def function_agent(function: Callable[[Any], Any]) -> FunctionAgent:
    """Make the agent that plays a function of one observation.

    Raises:
        InvalidOption: the function takes other arguments.
    """
    try:
        inspect.signature(function).bind(None)
    except TypeError as error:
        raise InvalidOption(
            f"agent {getattr(function, '__name__', function)!r}: {error}: expected a function of "
            f"one observation; {REMEDIES}"
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
