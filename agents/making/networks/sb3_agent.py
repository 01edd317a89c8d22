"""``sb3:ZIP``: a saved model of Stable-Baselines3 as an agent."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

from c4env.agents.making.as_agent import NetworkAgent
from c4env.agents.making.import_path import first_on_path, require_own_modules
from c4env.agents.making.networks.network import (
    form_of,
)
from c4env.agents.making.options import Temperature, validate_args
from c4env.errors import InvalidOption, MissingExtra
from c4env.lazy import EXTRAS, from_extra

# Values that only training needs may be functions that other machines cannot unpickle.
_SCHEDULES: Final = dict.fromkeys(("learning_rate", "lr_schedule", "clip_range"), 0.0)


class SB3(NetworkAgent):
    """Plays by a model of Stable-Baselines3 or sb3-contrib (needs the package stable-baselines3).

    Only the policy network is rebuilt, in the same way for MaskablePPO, PPO, A2C and DQN. Your own
    modules that the model needs may lie beside the file or in the working folder. The file does not
    say whether the model trained with ``VecNormalize``, and does not contain its statistics. A
    model that trained with ``VecNormalize`` plays badly here, unless ``norm_obs`` was False.

    Args:
        path: the model's .zip file. Loading can run code, so load only files that you trust.
    """

    @validate_args
    def __init__(self, path: str | Path, temperature: Temperature = 0.0) -> None:
        self.path = Path(path)
        super().__init__(load_policy(self.path), temperature)


def load_policy(path: Path) -> Any:
    """Load the policy network from a model's ``.zip`` onto the CPU.

    Raises:
        MissingExtra: the library that made the model is not installed.
        InvalidOption: the file is missing, or does not contain a model for this environment.
    """
    with from_extra("sb3", f"sb3:{path}: needs Stable-Baselines3"):
        from stable_baselines3.common.save_util import load_from_zip_file
    wrong = f"sb3:{path}: expected a model that Stable-Baselines3 saved as .zip"
    if not path.is_file():
        raise InvalidOption(f"{wrong}; found {'a folder' if path.is_dir() else 'no file'} there")
    beside, here = str(path.parent.resolve()), os.getcwd()  # have the user's own modules
    try:
        with first_on_path(here), first_on_path(beside):
            data, parameters, _ = load_from_zip_file(path, device="cpu", custom_objects=_SCHEDULES)
        parts = data["policy_class"], *data.get("policy_kwargs", {}).values()
        require_own_modules(beside, {str(getattr(part, "__module__", "")) for part in parts})
        spaces = data["observation_space"], data["action_space"]
        build, weights = data["policy_class"], parameters["policy"]
        form_of(build, *spaces, who=f"sb3:{path}: ")
        policy = build(*spaces, lambda _: 0.0, **data.get("policy_kwargs", {}))
        policy.load_state_dict(weights)
    except ModuleNotFoundError as error:  # of a class that the model needs
        if (error.name or "").partition(".")[0] in ("sb3_contrib", "stable_baselines3"):
            raise MissingExtra(f"{wrong}: {error}; pip install {EXTRAS['sb3']}") from None
        places = f"beside the file, in {os.getcwd()} or in PYTHONPATH"
        raise InvalidOption(f"sb3:{path}: {error}: expected {error.name}.py {places}") from None
    except InvalidOption:
        raise
    except Exception as error:  # the file holds something else
        message = " ".join(str(error).split())[:300]
        raise InvalidOption(f"{wrong}: {type(error).__name__}: {message}") from None
    policy.set_training_mode(False)
    return policy
