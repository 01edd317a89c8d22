"""Connect Four: the rules, and the environments built on them.

Names are imported when first used, so that importing the package compiles nothing.

Importing it makes the environments known by name:
``pettingzoo.make("aec", "c4env/connect_four-v0")`` and
``gymnasium.make("c4env/ConnectFour-v0")``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from c4env.envs.registration import register_all

if TYPE_CHECKING:
    from c4env.envs.aec import env, raw_env
    from c4env.envs.batch import Batch
    from c4env.envs.single import ConnectFourEnv
    from c4env.envs.vector import ConnectFourVectorEnv
    from c4env.observation import Observation, observe, position_from
    from c4env.position import Outcome, Position, format_moves, parse_moves
    from c4env.view.manual_policy import ManualPolicy

_HOME = {
    "Batch": "c4env.envs.batch",
    "ConnectFourEnv": "c4env.envs.single",
    "ConnectFourVectorEnv": "c4env.envs.vector",
    "ManualPolicy": "c4env.view.manual_policy",
    "Observation": "c4env.observation",
    "Outcome": "c4env.position",
    "Position": "c4env.position",
    "env": "c4env.envs.aec",
    "format_moves": "c4env.position",
    "observe": "c4env.observation",
    "parse_moves": "c4env.position",
    "position_from": "c4env.observation",
    "raw_env": "c4env.envs.aec",
}

__all__ = [
    "Batch",
    "ConnectFourEnv",
    "ConnectFourVectorEnv",
    "ManualPolicy",
    "Observation",
    "Outcome",
    "Position",
    "env",
    "format_moves",
    "observe",
    "parse_moves",
    "position_from",
    "raw_env",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


register_all()
