"""``sb3:path/to/model.zip``: agents from models of Stable-Baselines3 or sb3-contrib.

The adapter rebuilds only the policy network, in the same way for MaskablePPO, PPO, A2C and DQN. A
saved model contains pickled Python: open only files that you trust.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from c4env.agents.adapters.model import PolicyAgent, form_of
from c4env.agents.base import derived
from c4env.agents.registry.options import Temperature, validate_args
from c4env.errors import InvalidOption, MissingExtra
from c4env.lazy import from_extra


class SB3(PolicyAgent):
    """Plays by a model of Stable-Baselines3 or sb3-contrib (needs the package stable-baselines3).

    The file does not tell whether the model trained with ``VecNormalize``, and does not contain its
    statistics. Such a model plays badly here, unless it trained with ``norm_obs=False``.

    Args:
        path: the model's .zip file. Loading can run code, so load only files that you trust.
    """

    deterministic = derived(lambda agent: agent.temperature == 0)

    @validate_args
    def __init__(self, path: str | Path, temperature: Temperature = 0.0) -> None:
        self.path = Path(path)
        super().__init__(load_policy(self.path), temperature)


def load_policy(path: Path) -> Any:
    """Load the policy network from a model's ``.zip`` onto the CPU.

    Raises:
        MissingExtra: the library that made the model is not installed.
        InvalidOption: the file is missing, or holds no model for this environment.
    """
    with from_extra("sb3", f"sb3:{path}: needs Stable-Baselines3"):
        from stable_baselines3.common.save_util import load_from_zip_file
    wrong = f"sb3:{path}: expected a model that Stable-Baselines3 saved as .zip"
    if not path.is_file():
        raise InvalidOption(f"{wrong}; found {'a folder' if path.is_dir() else 'no file'} there")
    try:
        data, parameters, _ = load_from_zip_file(path, device="cpu", custom_objects=_SCHEDULES)
        spaces = data["observation_space"], data["action_space"]
        build, weights = data["policy_class"], parameters["policy"]
    except ImportError as error:  # the module of a pickled class is missing
        raise MissingExtra(f"{wrong}: {error}; pip install 'c4env[sb3]'") from None
    except Exception as error:  # the file holds something else
        raise InvalidOption(f"{wrong}: {type(error).__name__}: {error}") from None
    form_of(build, *spaces, who=f"sb3:{path}: ")
    policy = build(*spaces, lambda _: 0.0, **data.get("policy_kwargs", {}))
    policy.load_state_dict(weights)
    policy.set_training_mode(False)
    return policy


# Values that only training needs may be functions that other machines cannot unpickle.
_SCHEDULES: Final = dict.fromkeys(("learning_rate", "lr_schedule", "clip_range"), 0.0)
