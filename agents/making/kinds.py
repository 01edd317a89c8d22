"""The kind of a thing before it becomes an agent, by its type or by ``c4env.batched``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from enum import Enum
from typing import Any, Final

from c4env.envs.opponents import is_batched


class Kind(Enum):
    """A kind of things; the value is its name in messages."""

    AGENT = "an agent that is made"
    CLASS = "a class"
    MODEL = "a model of Stable-Baselines3, or its policy"
    MODULE = "a PyTorch module"
    BATCHED = "a function marked by c4env.batched"
    FUNCTION = "a function of one observation"
    NOTHING = "no agent"


NETWORKS: Final = {Kind.MODEL, Kind.MODULE, Kind.BATCHED}
"""The kinds that answer for many boards (``c4env.agents.making.networks.network``)."""

TYPES: Final = (
    (Kind.AGENT, "c4env.agents.base", "Agent"),
    (Kind.MODEL, "stable_baselines3.common.base_class", "BaseAlgorithm"),
    (Kind.MODEL, "stable_baselines3.common.policies", "BaseModel"),
    (Kind.MODULE, "torch.nn", "Module"),
)
"""Kinds by type; the first type that fits decides. A module that is not loaded has no objects, so
the table imports no module."""


def kind_of(thing: object) -> Kind:
    """Return the kind of a thing."""
    return Kind.CLASS if isinstance(thing, type) else _kind(thing, isinstance)


def kind_of_objects(cls: type) -> Kind:
    """Return the kind of the objects of a class."""
    return _kind(cls, issubclass)


def _kind(thing: Any, fits: Callable[[Any, Any], bool]) -> Kind:
    for kind, module, name in TYPES:
        if fits(thing, getattr(sys.modules.get(module), name, ())):
            return kind
    if is_batched(thing):
        return Kind.BATCHED
    return Kind.FUNCTION if callable(thing) else Kind.NOTHING
