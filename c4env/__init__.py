"""Connect Four: the rules, and the environments built on them.

A name is imported on first use, so that importing the package compiles nothing.

Importing the package registers the environments:
``pettingzoo.make("aec", "c4env/connect_four-v0")`` and
``gymnasium.make("c4env/ConnectFour-v0")``.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from c4env import errors
from c4env.boards import use_board
from c4env.envs.registration import register_all
from c4env.lazy import lazy_names

if TYPE_CHECKING:
    from c4env import agents, evaluation
    from c4env.envs.aec import env, raw_env
    from c4env.envs.jax_env import JaxEnv as JaxEnv
    from c4env.envs.opponents import Opponent, batched
    from c4env.envs.single import ConnectFourEnv
    from c4env.envs.tensor_env import TensorEnv as TensorEnv
    from c4env.envs.vector import ConnectFourVectorEnv
    from c4env.envs.wrappers import MaskInObservation
    from c4env.observation import Observation, observe, position_from, with_mirrors
    from c4env.openings import list_openings
    from c4env.position import Outcome, Position, format_moves, parse_moves
    from c4env.system import __version__ as __version__

_NAMES = {
    "c4env.envs.aec": "env raw_env",
    "c4env.envs.jax_env": "JaxEnv",
    "c4env.envs.tensor_env": "TensorEnv",
    "c4env.envs.vector": "ConnectFourVectorEnv",
    "c4env.envs.wrappers": "MaskInObservation",
    "c4env.system": "__version__",
    "c4env.envs.opponents": "Opponent batched",
    "c4env.envs.single": "ConnectFourEnv",
    "c4env.observation": "Observation observe position_from with_mirrors",
    "c4env.openings": "list_openings",
    "c4env.position": "Outcome Position format_moves parse_moves",
}

__all__ = [
    "ConnectFourEnv", "ConnectFourVectorEnv", "MaskInObservation",
    "Observation", "Opponent", "Outcome", "Position", "agents", "batched", "env", "errors",
    "evaluation", "format_moves", "list_openings", "observe", "parse_moves", "position_from",
    "raw_env", "use_board", "with_mirrors",
]  # fmt: skip
# TensorEnv and JaxEnv are left out: they need PyTorch and JAX, and `from c4env import *` must work
# without.

__getattr__, __dir__ = lazy_names(__name__, _NAMES, "agents evaluation")

if not os.path.isdir(os.path.join(__path__[0], "agents")):  # a clone without links
    __path__.append(os.path.dirname(__path__[0]))


register_all()
