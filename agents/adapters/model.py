"""Agents that play by a model, on many boards in one call: ``agents.make(model)``.

A model is an algorithm or policy of Stable-Baselines3 or sb3-contrib, a PyTorch module, or a
function of the observations of many boards, decorated by ``c4env.batched``. If the model's training
continues, the agent plays with the current weights.
"""

from __future__ import annotations

import abc
import inspect
from collections.abc import Callable
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from c4env.arrays import Int8s, Int64s
from c4env.boards import require_board
from c4env.errors import EngineFault, InvalidOption

from ...bitboard import COLUMNS
from ...envs.opponents import is_batched, reset_player
from ...envs.vectorized.batch import observed
from ...envs.vectorized.chance import streams
from ...geometry import BOARD_SIZE
from ...observation import LAYOUTS, Form
from ...position import Position
from ..base import Agent, function_agent, is_model, require_move
from ..registry.options import Temperature, validate_args

NO_SEED: Final = np.zeros(1, np.int64)


class ModelAgent(Agent):
    """Plays the legal column that a model prefers most, or samples from the model's preferences.

    Args:
        temperature: 0 plays the preferred column; 1 samples a column, as in training. At 0, ties
            go to the left. Above 0, probabilities are ``softmax(preference / temperature)``.
    """

    hint: ClassVar[str] = ""  # the end of a message about an answer

    @validate_args
    def __init__(self, temperature: Temperature = 0.0) -> None:
        self.temperature = temperature
        self._generator = np.random.default_rng()

    @abc.abstractmethod
    def preferences(self, planes: Int8s) -> NDArray[Any]:
        """Return preferences, float ``[M, 7]``, or columns, int ``[M]``, for M boards.

        ``planes`` is int8 ``[M, 6, 7, 2]``; plane 0 has the discs of the side to move.
        """

    def reset(self, seed: int | np.random.SeedSequence | None = None) -> None:
        """Begin a new game; the same seed gives the same random choices."""
        self._generator = np.random.default_rng(seed)

    def choose(self, position: Position) -> int:
        """Choose the 0-based column to play.

        Raises:
            EngineFault: the model's column is full or not on the board.
        """
        require_move(position)
        seeds = self._generator.integers(2**48, size=1) if self.temperature else NO_SEED
        discs = np.array([[position.mine, position.theirs]])
        column = int(self.choose_many(discs, seeds)[0])
        if not position.is_legal(column):
            raise EngineFault(f"{self!r} answered [{column}]: expected legal columns")
        return column

    def choose_many(self, discs: Int64s, seeds: Int64s) -> Int64s:
        """Choose columns, int64 ``[M]``, in one batch; columns that the model names are unchecked.

        Raises:
            EngineFault: the model's answer has another shape or dtype, or contains nan.
        """
        seen = observed(discs)
        found, masks = np.asarray(self.preferences(seen["observation"])), seen["action_mask"]
        if found.shape == (len(masks),):
            if found.dtype.kind not in "iu":
                some = found.tolist()[:8]
                raise EngineFault(f"{self!r} answered {some}: expected legal columns{self.hint}")
            return found.astype(np.int64)
        if found.shape != masks.shape:
            each = f"or {masks.shape[:1]} columns, one for each board{self.hint}"
            raise EngineFault(
                f"{self!r} returned shape {found.shape}: expected {masks.shape}, {each}"
            )
        values = np.where(masks != 0, found.astype(np.float64), -np.inf)
        if np.isnan(values).any():
            raise EngineFault(f"{self!r} answered nan: expected a number for each legal column")
        if self.temperature:
            # Gumbel-max trick: the argmax with Gumbel noise samples the softmax.
            drawn = streams((seeds[:, None] * COLUMNS + np.arange(COLUMNS)).astype(np.uint64))
            values = values / self.temperature - np.log(-np.log((drawn + 0.5) / 2.0**48))
        # Mask by column, so that a legal column with preference -inf stays legal.
        best = np.where((values == values.max(axis=1, keepdims=True)) & (masks != 0), 1, 0)
        return np.asarray(best.argmax(axis=1), np.int64)


class PolicyAgent(ModelAgent):
    """Plays by a Stable-Baselines3 policy; the policy's input shape determines the observations."""

    def __init__(self, policy: Any, temperature: float = 0.0) -> None:
        super().__init__(temperature)
        self._form = form_of(type(policy), policy.observation_space, policy.action_space)
        self._policy = policy

    def preferences(self, planes: Int8s) -> NDArray[Any]:
        """Return logits ``[M, 7]``, or the Q-values of a DQN."""
        import torch

        policy = self._policy
        learning = policy.training
        policy.set_training_mode(False)
        try:
            with torch.no_grad():
                given, _ = policy.obs_to_tensor(self._form(planes))
                if hasattr(policy, "q_net"):
                    found = policy.q_net(given)
                else:
                    found = policy.get_distribution(given).distribution.logits
        finally:
            policy.set_training_mode(learning)
        return np.asarray(found.cpu().numpy())


class ModuleAgent(ModelAgent):
    """Plays by a PyTorch module or function of a float32 tensor ``[M, 2, 6, 7]``.

    Plane 0 has the discs of the side to move, plane 1 the other side's discs; row 0 is the top. The
    answer is logits ``[M, 7]``; a tuple that begins with the logits, as networks with a value head
    return; or columns ``[M]``. For one board the dimension M may be left out. The agent puts the
    input on the device of the module's parameters, and calls without gradients and, a module, in
    evaluation mode.
    """

    _device: Any = None

    def __init__(self, module: Any, temperature: float = 0.0) -> None:
        super().__init__(temperature)
        self._module = module

    def preferences(self, planes: Int8s) -> NDArray[Any]:
        """Return the module's logits or columns."""
        import torch

        module, device = self._module, self._device
        learning = getattr(module, "training", False)
        if isinstance(module, torch.nn.Module):
            device = next((weights.device for weights in module.parameters()), device)
            module.eval()
        given = torch.from_numpy(Form("planes_first", "float32")(planes))
        try:
            with torch.no_grad():
                answer = module(given.to(device))
        finally:
            if learning:
                module.train()
        if isinstance(answer, tuple | list):
            answer = answer[0]
        try:
            found = torch.as_tensor(answer).cpu()
        except (RuntimeError, TypeError, ValueError):
            raise EngineFault(
                f"{self!r} answered {answer!r:.80}: expected logits of the seven columns, or a "
                "column 0..6"
            ) from None
        if found.is_floating_point():
            found = found.to(torch.float64)  # NumPy has no bfloat16
        if found.numel() == len(planes):
            return np.asarray(found.numpy().reshape(len(planes)))
        return np.asarray(found.numpy().reshape(len(planes), -1))


class BatchFunctionAgent(ModelAgent):
    """Plays by a function that maps observations of many boards to columns or preferences.

    The function gets a dict of ``"observation"`` int8 ``[M, 6, 7, 2]`` and ``"action_mask"`` int8
    ``[M, 7]``. It returns columns (integers ``[M]``) or preferences (floats ``[M, 7]``).
    """

    hint = "; the function is marked by c4env.batched"

    def __init__(self, function: Any, temperature: float = 0.0) -> None:
        super().__init__(temperature)
        self._function = function
        self.name = getattr(function, "__name__", "")

    def reset(self, seed: int | np.random.SeedSequence | None = None) -> None:
        """Begin a new game, also of the function."""
        super().reset(seed)
        reset_player(self._function, seed)

    def preferences(self, planes: Int8s) -> NDArray[Any]:
        """Return the function's result."""
        masks = 1 - (planes[:, 0, :, 0] | planes[:, 0, :, 1])  # legal if the top cell is empty
        return np.asarray(self._function({"observation": planes, "action_mask": masks}))


def form_of(policy: type[Any], observation_space: Any, action_space: Any, who: str = "") -> Form:
    """Return the form of the observations that a policy of this class and these spaces takes.

    Raises:
        InvalidOption: the policy is for another environment, or gives neither logits nor Q-values
            of an observation alone, as a recurrent policy; the message begins with ``who``.
    """
    try:
        if not hasattr(policy, "make_q_net"):
            inspect.signature(policy.get_distribution).bind(None, None)  # self, observations
    except (AttributeError, TypeError):
        raise InvalidOption(
            f"{who}policy {policy.__name__}: expected Q-values, or a distribution given "
            "observations alone, as in MaskablePPO, PPO, A2C or DQN"
        ) from None
    shape = getattr(observation_space, "shape", None)
    found = [name for name, layout in LAYOUTS.items() if layout.shape == shape]
    if not found:
        ours = ", ".join(f"{name} {layout.shape}" for name, layout in LAYOUTS.items())
        raise InvalidOption(
            f"{who}observations {observation_space}: expected a layout of ConnectFourEnv: {ours}"
        )
    if getattr(action_space, "n", None) != COLUMNS:
        raise InvalidOption(f"{who}actions {action_space}: expected Discrete({COLUMNS})")
    return Form(found[0])


def agent_of(model: Any, temperature: float = 0.0, **unknown: Any) -> Agent:
    """Make an agent from a model or a function.

    Args:
        model: a model of Stable-Baselines3 or PyTorch, or a function. A function without the
            decorator ``c4env.batched`` gets one observation. An agent is returned unchanged.
        temperature: as for :class:`ModelAgent`; not for a function of one observation.

    Raises:
        InvalidOption: ``model`` is neither a model nor a function of one argument; an option is not
            ``temperature``; or the function has no temperature.
    """
    if unknown:
        raise InvalidOption(
            f"{type(model).__name__}: options {sorted(unknown)}: expected only temperature"
        )
    require_board(model, BOARD_SIZE, model)
    if isinstance(model, Agent):
        return model
    if is_batched(model):
        return BatchFunctionAgent(model, temperature)
    if is_model(model):
        policy = getattr(model, "policy", model)
        if hasattr(policy, "obs_to_tensor"):
            normalised = getattr(model, "get_vec_normalize_env", lambda: None)()
            if normalised is not None and normalised.norm_obs:
                raise InvalidOption(
                    f"{type(model).__name__} trained with VecNormalize, whose statistics an agent "
                    "does not have: expected VecNormalize(norm_obs=False), since planes are 0 or 1"
                )
            return PolicyAgent(policy, temperature)
        return ModuleAgent(model, temperature)
    if isinstance(model, type) or not callable(model):
        raise InvalidOption(
            f"agent {model!r}: expected name:key=value,key=value, a model of Stable-Baselines3 or "
            "PyTorch, or a function"
        )
    if temperature:
        raise InvalidOption(f"{model!r}: a function of one observation has no temperature")
    return function_agent(model)


def maker_of(model: Any) -> Callable[..., Agent]:
    """Return a function that takes options and makes an agent that plays ``model``."""

    def make(temperature: float = 0.0) -> Agent:
        """An agent that plays the model registered under this name."""
        return agent_of(model, temperature)

    return make
