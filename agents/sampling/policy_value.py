"""The network that leads a tree search, by name or import path; its answers are checked."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from c4env.arrays import Float64s, Int8s
from c4env.boards import require_board
from c4env.errors import InvalidOption

from ...geometry import BOARD_SIZE
from ..adapters.networks import Network, import_network, network_of
from ..base import Agent

PolicyValue = Callable[..., Any]
"""A network in the one shape of :mod:`c4env.agents.adapters.networks`, such as a function from
observations, int8 ``[N, 6, 7, 2]``, and action masks, int8 ``[N, 7]``, to a policy ``[N, 7]`` and
expected results for the side to move, ``[N]`` from -1 to 1. Without results, all count as 0."""

LEARNED: Final = "learned"
SELFPLAY: Final = "selfplay:"
LOGITS: Final = "logits"


class Asked:
    """A network with checks of its answers.

    ``policy`` is the form of the network's policy, ``"logits"`` or ``"probabilities"``. A
    malformed answer raises InvalidOption. ``deterministic`` is True if the network is known to be.
    """

    def __init__(self, function: str | PolicyValue, policy: str) -> None:
        self.policy = policy
        self._name = function if isinstance(function, str) else repr(function)
        self._function = find_function(function)
        self.deterministic = self._function.deterministic

    def __call__(self, planes: Int8s, masks: Int8s) -> tuple[Float64s, Float64s]:
        """Return the columns' weights ``[N, 7]``, >= 0 and 0 where full, and the values ``[N]``."""
        given, expected = self._function(planes, masks)
        if expected is None:
            expected = np.zeros(len(masks))
        for part in (given, expected):
            if part.dtype.kind == "O":  # no numbers
                raise self._wrong(f"returned {type(part.tolist()).__name__}")
        given, expected = np.asarray(given, np.float64), np.asarray(expected, np.float64)
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


def find_function(function: str | PolicyValue) -> Network:
    """Find a network by its name or import path, or take one."""
    who = f"puct: function={function!r}"
    source: Any = function
    if isinstance(function, str):
        if function == LEARNED:
            from ..network.network import shipped

            source = shipped()
        elif function.startswith(SELFPLAY):
            # By name, since self-play is built on this package.
            network = importlib.import_module("..selfplay.network", __package__)
            source = network.Evaluator.load(function.removeprefix(SELFPLAY))
        else:
            source = import_network(function, who, f"{LEARNED} or package.module:function")
    if source_network := network_of(source, critic=True):
        return source_network
    if not callable(source) or isinstance(source, Agent | type):
        raise InvalidOption(f"{who}: expected a network, or its import path")
    require_board(source, BOARD_SIZE, who)
    return Network(source)
