"""Agents of other libraries: ``torch:FILE.py:NAME`` and ``sb3:ZIP``.

If a network's training continues, the agent plays with the current weights.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

import numpy as np

from c4env.agents.base import as_number
from c4env.agents.making.kinds import Kind, kind_of
from c4env.agents.making.load import first_on_path, require_own_modules
from c4env.agents.making.networks import (
    ModuleNetwork,
    TensorNetwork,
    form_of,
    import_network,
)
from c4env.agents.making.options import Policy, Temperature, validate_args
from c4env.agents.making.wrap import NetworkAgent
from c4env.arrays import Int64s
from c4env.errors import InvalidOption, MissingExtra
from c4env.lazy import EXTRAS, from_extra

# Values that only training needs may be functions that other machines cannot unpickle.
_SCHEDULES: Final = dict.fromkeys(("learning_rate", "lr_schedule", "clip_range"), 0.0)


class TorchFunction(NetworkAgent):
    """Plays by a PyTorch module, or a function of tensors (needs the package torch).

    What it draws from PyTorch's generator of the CPU repeats with the seed of :meth:`reset`, and
    leaves the generator as it was.

    Args:
        function: FILE.py:NAME. The file's code runs, so name only files that you trust. A class is
            called without arguments.
        device: the device of the tensors and of a module.

    Raises:
        InvalidOption: the named object is not callable, or the device does not exist.
    """

    @validate_args
    def __init__(
        self,
        function: str,
        device: str = "cpu",
        temperature: Temperature = 0.0,
        policy: Policy = None,
    ) -> None:
        with from_extra("torch", "torch: not installed"):
            import torch
        try:
            torch.empty(1, device=device)
        except (RuntimeError, AssertionError) as error:
            raise InvalidOption(f"torch: device={device!r}: {error}") from None
        source = import_network(function, f"torch: {function!r}", "FILE.py:NAME")
        if kind_of(source) is Kind.MODULE:
            network: TensorNetwork = ModuleNetwork(source.to(device), policy, device)
        else:
            network = TensorNetwork(source, policy, device)
        super().__init__(network, temperature)
        self._generator: Any = None  # the state of PyTorch's, if a seed was given

    def reset(self, seed: int | np.random.SeedSequence | None = None) -> None:
        """Begin a new game; ``seed`` also seeds what the network draws."""
        import torch

        super().reset(seed)
        number = as_number(seed)
        if number is not None:
            self._generator = torch.Generator().manual_seed(number).get_state()

    def choose_many(self, discs: Int64s, seeds: Int64s) -> Int64s:
        """Choose columns, int64 ``[M]``, in one batch; see :meth:`NetworkAgent.choose_many`."""
        import torch

        if self._generator is None:
            return super().choose_many(discs, seeds)
        before = torch.get_rng_state()
        torch.set_rng_state(self._generator)
        try:
            return super().choose_many(discs, seeds)
        finally:
            self._generator = torch.get_rng_state()
            torch.set_rng_state(before)


class SB3(NetworkAgent):
    """Plays by a model of Stable-Baselines3 or sb3-contrib (needs the package stable-baselines3).

    Only the policy network is rebuilt, in the same way for MaskablePPO, PPO, A2C and DQN. Modules
    of yours that the model needs may lie beside the file or in the working folder. The file does
    not say whether the model trained with ``VecNormalize``, and does not contain its statistics.
    Such a model plays badly here, unless it trained with ``norm_obs=False``.

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
        InvalidOption: the file is missing, or holds no model for this environment.
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
