"""Models trained with Stable-Baselines3 or sb3-contrib as agents: ``sb3:path/to/model.zip``.

Only the policy network is rebuilt, so one way serves MaskablePPO, PPO, A2C and DQN. A
saved model holds pickled Python: open only what you trust.
"""

from __future__ import annotations

import pickle
import zipfile
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agents.base import Agent, require_move
from agents.errors import InvalidModel
from c4env.bitboard import COLUMNS
from c4env.errors import MissingExtra
from c4env.observation import LAYOUTS, OBSERVATION_SHAPE, observe
from c4env.position import Position


class SB3(Agent):
    """Plays a saved model, among the legal columns only.

    The observation is that of ``ConnectFourEnv``; its layout is known by its shape.

    Args:
        path: the model's ``.zip``.
        temperature: 0 plays the column the model prefers; above, columns are drawn with
            the probabilities ``softmax(preference / temperature)``: 1 draws as a policy
            did in training.
    """

    def __init__(self, path: str | Path, temperature: float = 0.0) -> None:
        self.path = Path(path)
        self.temperature = temperature
        self.deterministic = temperature == 0
        self._policy = load_policy(self.path)
        shape = self._policy.observation_space.shape
        self._lay_out = next(
            lay_out
            for lay_out in LAYOUTS.values()
            if lay_out(np.empty(OBSERVATION_SHAPE)).shape == shape
        )
        self._generator = np.random.default_rng()

    def reset(self, seed: int | np.random.SeedSequence | None = None) -> None:
        """Begin a new game; the same seed draws the same columns."""
        self._generator = np.random.default_rng(seed)

    def choose(self, position: Position) -> int:
        """The 0-based column to play."""
        require_move(position)
        seen = observe(position)
        return int(self.columns(seen["observation"][None], seen["action_mask"][None])[0])

    def preferences(self, planes: NDArray[np.int8]) -> NDArray[np.float64]:
        """What the model says of each column, float64 ``[M, 7]``: logits, or values of DQN.

        Args:
            planes: int8 ``[M, 6, 7, 2]``, as the side to move sees them.
        """
        import torch

        policy = self._policy
        with torch.no_grad():
            given, _ = policy.obs_to_tensor(self._lay_out(planes))
            if hasattr(policy, "q_net"):
                found = policy.q_net(given)
            else:
                found = policy.get_distribution(given).distribution.logits
        return np.asarray(found.numpy(), np.float64)

    def columns(self, planes: NDArray[np.int8], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """Columns int64 ``[M]``, each legal by its mask ``[M, 7]``."""
        values = np.where(masks != 0, self.preferences(planes), -np.inf)
        if self.temperature:
            # The greatest sum with Gumbel noise is a draw from the softmax.
            noise = self._generator.gumbel(size=values.shape)
            values = values / self.temperature + noise
        return np.asarray(values.argmax(axis=1), np.int64)


def load_policy(path: Path) -> Any:
    """The policy network in a model's ``.zip``, on the processor.

    Raises:
        MissingExtra: the library that made the model is not installed.
        InvalidModel: no such file, no such model, or a model for another environment.
    """
    try:
        from stable_baselines3.common.save_util import load_from_zip_file
    except ImportError as error:
        raise MissingExtra(
            f"sb3:{path}: needs Stable-Baselines3: pip install 'c4env[sb3]' ({error})"
        ) from None
    wrong = f"sb3:{path}: expected a model that Stable-Baselines3 saved as .zip"
    if not path.is_file():
        raise InvalidModel(f"{wrong}, found {'a folder' if path.is_dir() else 'nothing'} there")
    try:
        data, parameters, _ = load_from_zip_file(path, device="cpu", custom_objects=_SCHEDULES)
        spaces = data["observation_space"], data["action_space"]
        build, weights = data["policy_class"], parameters["policy"]
    except ImportError as error:  # of the module that a pickled class lives in
        raise MissingExtra(f"{wrong}: {error}; pip install 'c4env[sb3]'") from None
    except _UNREADABLE as error:
        raise InvalidModel(f"{wrong}: {type(error).__name__}: {error}") from None
    _require_ours(path, *spaces)
    policy = build(*spaces, lambda _: 0.0, **data.get("policy_kwargs", {}))
    if not hasattr(policy, "q_net") and not hasattr(policy, "get_distribution"):
        raise InvalidModel(
            f"sb3:{path}: a {build.__name__}: expected the policy of MaskablePPO, PPO, A2C or DQN"
        )
    policy.load_state_dict(weights)
    policy.set_training_mode(False)
    return policy


# What training alone needs may be a function that cannot be unpickled elsewhere.
_SCHEDULES: Final = dict.fromkeys(("learning_rate", "lr_schedule", "clip_range"), 0.0)

_UNREADABLE: Final = (
    *(OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError),
    *(EOFError, pickle.UnpicklingError, zipfile.BadZipFile),
)


def _require_ours(path: Path, observation_space: Any, action_space: Any) -> None:
    """Refuse a model whose spaces are none of ``ConnectFourEnv``'s.

    Raises:
        InvalidModel: they are others.
    """
    shapes = {name: lay_out(np.empty(OBSERVATION_SHAPE)).shape for name, lay_out in LAYOUTS.items()}
    if getattr(observation_space, "shape", None) not in shapes.values():
        ours = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise InvalidModel(
            f"sb3:{path}: it observes {observation_space}: expected a layout of ConnectFourEnv: "
            f"{ours}"
        )
    if getattr(action_space, "n", None) != COLUMNS:
        raise InvalidModel(f"sb3:{path}: it acts in {action_space}: expected Discrete({COLUMNS})")
