"""Connect Four: the rules, and the environments built on them.

Each name is imported on first use, so that importing the package compiles nothing.

Importing the package registers the environments:
``pettingzoo.make("aec", "c4env/connect_four-v0")`` and
``gymnasium.make("c4env/ConnectFour-v0")``.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

from c4env.boards import board
from c4env.envs.registration import register_all
from c4env.lazy import lazy_names

if TYPE_CHECKING:
    from c4env import agents, errors, evaluation
    from c4env.envs.aec import env, raw_env
    from c4env.envs.masked import MaskInObservation
    from c4env.envs.opponents import Opponent, batched
    from c4env.envs.single import ConnectFourEnv
    from c4env.envs.vectorized.tensor import TensorEnv as TensorEnv
    from c4env.envs.vectorized.vector import ConnectFourVectorEnv
    from c4env.observation import Observation, observe, position_from, with_mirrors
    from c4env.position import Outcome, Position, format_moves, parse_moves

_NAMES = {
    "c4env.envs.aec": "env raw_env",
    "c4env.envs.vectorized.tensor": "TensorEnv",
    "c4env.envs.vectorized.vector": "ConnectFourVectorEnv",
    "c4env.envs.masked": "MaskInObservation",
    "c4env.envs.opponents": "Opponent batched",
    "c4env.envs.single": "ConnectFourEnv",
    "c4env.observation": "Observation observe position_from with_mirrors",
    "c4env.position": "Outcome Position format_moves parse_moves",
}

__all__ = [
    "ConnectFourEnv", "ConnectFourVectorEnv", "MaskInObservation",
    "Observation", "Opponent", "Outcome", "Position", "agents", "batched", "board", "env", "errors",
    "evaluation",
    "format_moves", "observe", "parse_moves", "position_from", "raw_env", "with_mirrors",
]  # fmt: skip
# TensorEnv is left out: it needs PyTorch, and `from c4env import *` must work without.

__getattr__, __dir__ = lazy_names(__name__, _NAMES, "agents errors evaluation")


_is_script = os.path.basename((sys.argv or [""])[0]) in ("c4", "c4.exe")
_is_module = sys.orig_argv[1:3] == ["-m", f"{__name__}.evaluation"]
if (_is_script or _is_module) and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    # Until the command handles Ctrl-C, Ctrl-C ends the process without a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

register_all()
