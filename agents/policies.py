"""Agents that play by a network: ``agents.make(network)``, ``torch:FILE.py:NAME``, ``sb3:ZIP``.

If the network's training continues, the agent plays with the current weights.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

from c4env.agents.base import Agent, BatchAgent, as_number
from c4env.agents.functions import function_agent
from c4env.agents.imports import first_on_path, modules_in, require_own_modules
from c4env.agents.networks import (
    Network,
    PolicyNetwork,
    TorchNetwork,
    as_network,
    form_of,
    import_network,
    is_module,
    is_network,
)
from c4env.agents.options import Policy, Temperature, validate_args
from c4env.arrays import Int64s
from c4env.envs.opponents import reset_player
from c4env.envs.streams import streams
from c4env.errors import EngineFault, InvalidOption, MissingExtra, brief
from c4env.lazy import EXTRAS, from_extra
from c4env.position import Position
from c4env.rules import COLUMNS

# Values that only training needs may be functions that other machines cannot unpickle.
_SCHEDULES: Final = dict.fromkeys(("learning_rate", "lr_schedule", "clip_range"), 0.0)


class NetworkAgent(BatchAgent):
    """Plays the legal column that a network prefers most, or samples from its policy.

    Args:
        network: a network, as :func:`as_network` returns it.
        temperature: 0 plays the preferred column; 1 samples a column, as in training. At 0, ties
            go to the left. Above 0, probabilities are ``softmax(logits / temperature)``.
    """

    @validate_args
    def __init__(self, network: Any, temperature: Temperature = 0.0) -> None:
        super().__init__()
        self.network: Network = network
        self.temperature = temperature
        self.name = network.name

    @property
    def deterministic(self) -> bool:  # type: ignore[override]
        """Whether the same position always gets the same column."""
        return self.network.deterministic and self.temperature == 0

    @property
    def version(self) -> Any:
        """The network's attribute ``version``, by which a kept run recognises the network."""
        return getattr(self.network.source, "version", "")

    def reset(self, seed: int | np.random.SeedSequence | None = None) -> None:
        """Begin a new game, also of the network if it has a method ``reset``."""
        super().reset(seed)
        if not is_module(self.network.source):
            reset_player(self.network.source, seed)

    def choose(self, position: Position) -> int:
        """Choose the 0-based column to play.

        Raises:
            EngineFault: the network's column is full or not on the board.
        """
        column = super().choose(position)
        if not position.is_legal(column):
            raise EngineFault(f"{self.network.name} answered [{column}]: expected legal columns")
        return column

    def choose_many(self, discs: Int64s, seeds: Int64s) -> Int64s:
        """Choose columns, int64 ``[M]``, in one batch; :meth:`Network.scores` has the errors.

        If the network answers columns, they are not checked.
        """
        from c4env.envs.batch import observed  # compiled

        observations = observed(discs)
        masks = observations["action_mask"]
        scores = self.network.scores(observations["observation"], masks)
        if scores.ndim == 1:
            return scores
        values = np.where(masks != 0, scores, -np.inf)
        if self.temperature:
            # Gumbel-max trick: the argmax with Gumbel noise samples the softmax.
            states = streams((seeds[:, None] * COLUMNS + np.arange(COLUMNS)).astype(np.uint64))
            values = values / self.temperature - np.log(-np.log((states + 0.5) / 2.0**48))
        # Mask by column, so that a legal column with the logit -inf stays legal.
        best = np.where((values == values.max(axis=1, keepdims=True)) & (masks != 0), 1, 0)
        return np.asarray(best.argmax(axis=1), np.int64)


class TorchFunction(NetworkAgent):
    """Plays by a PyTorch module, or a function of tensors (needs the package torch).

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
        if is_module(source):
            source = source.to(device)
        super().__init__(TorchNetwork(source, policy, device), temperature)

    def reset(self, seed: int | np.random.SeedSequence | None = None) -> None:
        """Begin a new game; ``seed`` also seeds PyTorch's generator."""
        import torch

        super().reset(seed)
        number = as_number(seed)
        if number is not None:
            torch.manual_seed(number)


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
        super().__init__(PolicyNetwork(load_policy(self.path)), temperature)


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
        modules = {str(getattr(part, "__module__", "")) for part in parts}
        for folder in (beside, here):
            require_own_modules(modules, folder)
            modules -= modules_in(folder, modules).keys()
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


def agent_of(
    model: Any, temperature: float = 0.0, policy: str | None = None, **unknown: Any
) -> Agent:
    """Make an agent from a network, a model or a function of one observation.

    Args:
        model: as for :func:`c4env.agents.make`. An agent is returned unchanged.
        temperature: of a network, as for :class:`NetworkAgent`.
        policy: of a network, as for :func:`as_network`.

    Raises:
        InvalidOption: ``model`` is none of these, or does not have one of the options.
    """
    if unknown:
        raise InvalidOption(
            f"{type(model).__name__}: options {sorted(unknown)}: expected temperature or policy"
        )
    if is_network(model):
        return NetworkAgent(as_network(model, policy), temperature)
    if isinstance(model, Agent):
        kind, agent = "an agent that is made", model
    elif isinstance(model, type) or not callable(model):
        raise InvalidOption(f"agent {brief(model)}: expected {_expected(model)}")
    else:
        kind, agent = "a function of one observation", function_agent(model)
    for option, value in (("temperature", temperature or None), ("policy", policy)):
        if value is not None:
            raise InvalidOption(f"{model!r}: {option}={value!r}: {kind} has no {option}")
    return agent


def _expected(thing: Any) -> str:
    """Return what to pass in place of an object that is no agent."""
    if isinstance(thing, type):
        return f"an object of the class: {thing.__name__}()"
    if callable(getattr(thing, "choose", None)):
        return f"its class {type(thing).__name__} to derive from c4env.agents.Agent"
    if isinstance(thing, dict) and thing and all(hasattr(v, "shape") for v in thing.values()):
        return "a network, not its weights: network.load_state_dict(weights), then the network"
    if isinstance(thing, list | tuple | set | dict):
        return "one agent; of several, c4env.agents.Pool({agent: weight, ...}) draws"
    return "an agent, its spec name:key=value,key=value, a network or model, or a function"


def maker_of(model: Any) -> Callable[..., Agent]:
    """Return a function that takes a network's options and makes its agent."""

    def make(temperature: Temperature = 0.0, policy: Policy = None) -> Agent:
        return agent_of(model, temperature, policy)

    make.__doc__ = getattr(model, "__doc__", None)
    return make
