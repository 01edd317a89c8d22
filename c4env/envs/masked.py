"""The action mask within the observation, under the keys that a learning library reads.

==================  ======================================================
library             arguments
==================  ======================================================
TorchRL             ``mask_dtype="bool"``
Tianshou            ``keys=("obs", "mask")``
RLlib               ``keys=("observations", "action_mask")``, and float32
==================  ======================================================

sb3-contrib needs no wrapper: it calls ``action_masks()``.
"""

from __future__ import annotations

from typing import Any, SupportsFloat

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import DTypeLike

from c4env.errors import InvalidOption

_MASK_DTYPES = ("int8", "float32", "bool")


class MaskInObservation(gymnasium.Wrapper[dict[str, Any], Any, Any, Any]):
    """Turns observations into a dict of the observation and ``info["action_mask"]``.

    Once the game is over, the mask in the observation is all ones, and the mask in info all zeros.
    After the end a library may still sample an action, and sampling from a mask of zeros is an
    error. The sampled action is never played.

    Example:
        >>> env = MaskInObservation(ConnectFourEnv(), keys=("obs", "mask"))
        >>> observation, info = env.reset(seed=1)
        >>> observation["mask"]
        array([1, 1, 1, 1, 1, 1, 1], dtype=int8)
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        keys: tuple[str, str] = ("observation", "action_mask"),
        mask_dtype: DTypeLike = "int8",
    ) -> None:
        """Wrap an environment whose info contains an action mask, such as ``ConnectFourEnv``.

        Args:
            env: the environment, with ``Discrete`` actions.
            keys: the keys of the observation and of the mask.
            mask_dtype: ``"int8"``, ``"float32"`` or ``"bool"``.

        Raises:
            InvalidOption: an argument has an invalid value.
        """
        if len(keys) != 2 or isinstance(keys, str) or keys[0] == keys[1]:
            raise InvalidOption(f"keys={keys!r}: expected two different names")
        if mask_dtype not in _MASK_DTYPES:
            raise InvalidOption(f"mask_dtype={mask_dtype!r}: expected one of {_MASK_DTYPES}")
        super().__init__(env)
        self._keys = keys
        self._dtype: np.dtype[Any] = np.dtype(mask_dtype)
        actions = env.action_space
        if not isinstance(actions, spaces.Discrete):
            raise InvalidOption(f"action space {actions}: expected Discrete")
        mask = spaces.Box(0, 1, (int(actions.n),), self._dtype.type)
        self.observation_space = spaces.Dict({keys[0]: env.observation_space, keys[1]: mask})

    def reset(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Reset the environment; the observation is a dict."""
        observation, info = self.env.reset(**kwargs)
        return self._joined(observation, info, False), info

    def step(self, action: Any) -> tuple[dict[str, Any], SupportsFloat, bool, bool, dict[str, Any]]:
        """Step the environment; the observation is a dict."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self._joined(observation, info, terminated), reward, terminated, truncated, info

    def _joined(self, observation: Any, info: dict[str, Any], over: bool) -> dict[str, Any]:
        mask = info["action_mask"].astype(self._dtype)  # a copy: info keeps its own
        if over:
            mask[:] = 1
        return {self._keys[0]: observation, self._keys[1]: mask}
