"""The mask of legal columns inside the observation, for libraries that look for it there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs
from numpy.typing import DTypeLike

from c4env.errors import InvalidOption
from c4env.rules import COLUMNS


class MaskInObservation(gymnasium.Wrapper[dict[str, Any], Any, Any, Any], RecordConstructorArgs):
    """An environment of one board whose observations are a dict of the board and the mask.

    The mask is ``info["action_mask"]``: 1 for each legal column, and all ones once the game is
    over. ``ConnectFourVectorEnv`` needs no wrapper: pass ``action_mask="observation"``.

    Example:
        >>> env = MaskInObservation(ConnectFourEnv(), "obs", "mask", dtype="bool")
        >>> observation, info = env.reset(seed=1)
        >>> observation["obs"].shape, observation["mask"].shape
        ((84,), (7,))
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        observation: str = "observation",
        mask: str = "action_mask",
        dtype: DTypeLike = "int8",
    ) -> None:
        """Wrap an environment.

        Args:
            env: a ``ConnectFourEnv``, or wrappers around one.
            observation: the key of the environment's observation.
            mask: the key of the mask, ``[7]``.
            dtype: the dtype of the mask.

        Raises:
            InvalidOption: the keys are equal, or the dtype is neither a number nor bool.
        """
        RecordConstructorArgs.__init__(self, observation=observation, mask=mask, dtype=dtype)
        gymnasium.Wrapper.__init__(self, env)
        if observation == mask:
            raise InvalidOption(f"mask={mask!r}: expected another key than the observation's")
        try:
            self._dtype = np.dtype(dtype)
            cells = spaces.Box(0, 1, (COLUMNS,), self._dtype.type)
        except (TypeError, ValueError):
            raise InvalidOption(f"dtype={dtype!r}: expected a NumPy dtype such as 'int8'") from None
        self._keys = observation, mask
        self.observation_space = spaces.Dict({observation: env.observation_space, mask: cells})

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start a game; see the environment's ``reset``."""
        taken = None if options is None else {**options}
        seen, info = self.env.reset(seed=seed, options=taken)
        return self._with_mask(seen, info), info

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Play a move; see the environment's ``step``."""
        seen, reward, terminated, truncated, info = self.env.step(action)
        return self._with_mask(seen, info), float(reward), terminated, truncated, info

    def _with_mask(self, seen: Any, info: dict[str, Any]) -> dict[str, Any]:
        return dict(zip(self._keys, (seen, info["action_mask"].astype(self._dtype)), strict=True))
