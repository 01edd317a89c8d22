"""Users' policy and value functions, found by import path and checked."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from c4env.agents.registry.imports import import_callable
from c4env.arrays import Float64s, Int8s
from c4env.boards import require_board
from c4env.errors import InvalidOption

from ...geometry import BOARD_SIZE

PolicyValue = Callable[[Int8s, Int8s], tuple[Any, Any]]
"""A function from observations, int8 ``[N, 6, 7, 2]``, and action masks, int8 ``[N, 7]``, to a
policy ``[N, 7]`` and expected results for the side to move, ``[N]`` from -1 to 1."""

LEARNED: Final = "learned"
SELFPLAY: Final = "selfplay:"
LOGITS: Final = "logits"


class Asked:
    """A policy and value function with checks of its results.

    ``policy`` is the form of the function's policy, ``"logits"`` or ``"probabilities"``. A
    malformed result raises InvalidOption. ``deterministic`` is True if the function is known to be.
    """

    def __init__(self, function: str | PolicyValue, policy: str) -> None:
        self.policy = policy
        self._name = function if isinstance(function, str) else repr(function)
        self._function = find_function(function)
        self.deterministic = getattr(self._function, "deterministic", False) is True

    def __call__(self, planes: Int8s, masks: Int8s) -> tuple[Float64s, Float64s]:
        """Return the columns' weights ``[N, 7]``, >= 0 and 0 where full, and the values ``[N]``."""
        answer = self._function(planes, masks)
        try:
            given, expected = (np.asarray(part, np.float64) for part in answer)
        except (TypeError, ValueError) as error:
            raise self._wrong(f"returned {type(answer).__name__}: {error}") from None
        if given.shape != masks.shape or expected.shape != (len(masks),):
            shapes = f"{given.shape} and {expected.shape}"
            raise self._wrong(f"returned shapes {shapes} for {len(masks)} boards")
        if not (np.abs(expected) <= 1.0).all():
            raise self._wrong(f"returned the values {expected.tolist()}")
        legal = np.where(masks, given, -np.inf if self.policy == LOGITS else 0.0)
        if self.policy == LOGITS:
            most = legal.max(axis=1, keepdims=True)
            if not np.isfinite(most).all():
                raise self._wrong(f"returned the logits {given.tolist()}")
            legal = np.exp(legal - most)
        elif not (np.isfinite(legal).all() and (legal >= 0.0).all()):
            raise self._wrong(f"returned the probabilities {given.tolist()}")
        return legal, np.ascontiguousarray(expected)

    def _wrong(self, what: str) -> InvalidOption:
        return InvalidOption(
            f"puct: {self._name} {what[:300]}; expected {self.policy} [N, 7] and values [N] "
            "from -1 to 1"
        )


def find_function(function: str | PolicyValue) -> PolicyValue:
    """Find a policy and value function, or a network, by its name or import path."""
    who = f"puct: function={function!r}"
    if isinstance(function, str):
        if function == LEARNED:
            from ..network.network import shipped

            return shipped()
        if function.startswith(SELFPLAY):
            # By name, since self-play is built on this package.
            network = importlib.import_module("..selfplay.network", __package__)
            loaded: PolicyValue = network.Evaluator.load(function.removeprefix(SELFPLAY))
            return loaded
        expected = f"{LEARNED} or package.module:function"
        function = import_callable(function, InvalidOption, who, expected)
    if not callable(function):
        raise InvalidOption(f"{who}: expected a function, or its import path")
    require_board(function, BOARD_SIZE, who)
    return function
