"""Models as agents that answer for many boards at once: ``agents.make(model)``.

A model is one of Stable-Baselines3 or sb3-contrib (the algorithm, or its policy), a module of
PyTorch, or a function of the observations of many boards, marked by ``c4env.batched``. It may go
on being trained: what it plays is what it has learned by then.
"""

from __future__ import annotations

__any_board__ = True

import abc
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from c4env.agents.base import Agent, FunctionAgent, is_model, require_move
from c4env.agents.errors import EngineFault, InvalidModel, InvalidSpec, UnknownOption
from c4env.agents.registry.options import Temperature, checked
from c4env.arrays import Int8s, Int64s
from c4env.bitboard import COLUMNS
from c4env.boards import require_board
from c4env.envs.opponents import is_batched
from c4env.envs.vectorized.chance import streams
from c4env.geometry import BOARD_SIZE
from c4env.observation import LAYOUT_SHAPES, LAYOUTS, observe
from c4env.position import Position


class ModelAgent(Agent):
    """Plays the legal column that a model prefers.

    Args:
        temperature: 0: the preferred column; 1: drawn as trained. With 0 the leftmost of several
            is played; above, columns are drawn with the probabilities
            ``softmax(preference / temperature)``.

    Raises:
        InvalidValue: the temperature is no number >= 0.
    """

    @checked
    def __init__(self, temperature: Temperature = 0.0) -> None:
        self.temperature = temperature
        self._generator = np.random.default_rng()

    @abc.abstractmethod
    def preferences(self, planes: Int8s) -> NDArray[Any]:
        """What the model says of each column: floats ``[M, 7]``, or the columns, integers ``[M]``.

        Args:
            planes: int8 ``[M, 6, 7, 2]``, as the side to move sees them.
        """

    def reset(self, seed: int | np.random.SeedSequence | None = None) -> None:
        """Begin a new game; the same seed draws the same columns."""
        self._generator = np.random.default_rng(seed)

    def choose(self, position: Position) -> int:
        """The 0-based column to play."""
        require_move(position)
        seen = observe(position)
        return int(self.columns(seen["observation"][None], seen["action_mask"][None])[0])

    def columns(self, planes: Int8s, masks: Int8s, seeds: Int64s | None = None) -> Int64s:
        """Columns int64 ``[M]``, each legal by its mask ``[M, 7]``.

        Args:
            planes, masks: int8 ``[M, 6, 7, 2]`` and ``[M, 7]``.
            seeds: int64 ``[M]``, from which a temperature draws; None for its own generator.

        Raises:
            EngineFault: the model's preferences are not ``[M, 7]``, or hold nan; or it
                answered columns that are none, or full.
        """
        found = np.asarray(self.preferences(planes))
        if found.shape == (len(masks),):
            legal = found.dtype.kind in "iu" and ((found >= 0) & (found < COLUMNS)).all()
            if not legal or not masks[np.arange(len(masks)), found].all():
                raise EngineFault(f"{self!r} answered {found.tolist()[:8]}: expected legal columns")
            return found.astype(np.int64)
        found = found.astype(np.float64)
        if found.shape != masks.shape:
            raise EngineFault(f"{self!r} answered {found.shape}: expected {masks.shape}")
        values = np.where(masks != 0, found, -np.inf)
        if np.isnan(values).any():
            raise EngineFault(f"{self!r} answered nan: expected a number for each legal column")
        if self.temperature:
            if seeds is None:
                seeds = self._generator.integers(2**48, size=len(masks))
            # The greatest sum with Gumbel noise is a draw from the softmax.
            drawn = streams((seeds[:, None] * COLUMNS + np.arange(COLUMNS)).astype(np.uint64))
            values = values / self.temperature - np.log(-np.log((drawn + 0.5) / 2.0**48))
        # By mask, so that a column of preference -inf is legal still.
        best = np.where((values == values.max(axis=1, keepdims=True)) & (masks != 0), 1, 0)
        return np.asarray(best.argmax(axis=1), np.int64)


class PolicyAgent(ModelAgent):
    """A policy network of Stable-Baselines3; the layout it observes is known by its shape.

    Raises:
        InvalidModel: it observes or does something else, or is of another kind.
    """

    def __init__(self, policy: Any, temperature: float = 0.0) -> None:
        super().__init__(temperature)
        require_policy(type(policy))
        shape = require_ours(policy.observation_space, policy.action_space)
        self._policy = policy
        self._lay_out = next(LAYOUTS[name] for name, ours in LAYOUT_SHAPES.items() if ours == shape)

    def preferences(self, planes: Int8s) -> NDArray[Any]:
        """Logits, or the values of DQN, ``[M, 7]``; see :class:`ModelAgent`."""
        import torch

        policy = self._policy
        learning = policy.training
        policy.set_training_mode(False)
        try:
            with torch.no_grad():
                given, _ = policy.obs_to_tensor(self._lay_out(planes))
                if hasattr(policy, "q_net"):
                    found = policy.q_net(given)
                else:
                    found = policy.get_distribution(given).distribution.logits
        finally:
            policy.set_training_mode(learning)
        return np.asarray(found.cpu().numpy())


class ModuleAgent(ModelAgent):
    """A module of PyTorch: called with float32 ``[M, 2, 6, 7]``, it returns logits ``[M, 7]``.

    Plane 0 is the discs of the side to move, plane 1 the other's, row 0 on top. A tuple that
    begins with the logits will do, as networks with a value return it. The tensor is on the
    device of the module's parameters; it is called in evaluation mode, without gradients.
    """

    def __init__(self, module: Any, temperature: float = 0.0) -> None:
        super().__init__(temperature)
        self._module = module

    def preferences(self, planes: Int8s) -> NDArray[Any]:
        """Logits ``[M, 7]``; see :class:`ModelAgent`."""
        import torch

        module = self._module
        learning = module.training
        first = next(module.parameters(), None)
        given = torch.from_numpy(LAYOUTS["planes_first"](planes).astype(np.float32))
        module.eval()
        try:
            with torch.no_grad():
                answer = module(given if first is None else given.to(first.device))
        finally:
            module.train(learning)
        if isinstance(answer, tuple | list):
            answer = answer[0]
        return np.asarray(answer.detach().cpu().to(torch.float64).numpy())


class BatchFunctionAgent(ModelAgent):
    """A function of many observations that returns columns, or preferences.

    It is called with a dict of ``"observation"`` int8 ``[M, 6, 7, 2]`` and ``"action_mask"``
    int8 ``[M, 7]`` and returns integers ``[M]``, or preferences ``[M, 7]``.
    """

    def __init__(self, function: Any, temperature: float = 0.0) -> None:
        super().__init__(temperature)
        self._function = function
        self.name = getattr(function, "__name__", "")

    def preferences(self, planes: Int8s) -> NDArray[Any]:
        """What the function returned; see :class:`ModelAgent`."""
        masks = (planes[:, 0].sum(axis=-1) == 0).astype(np.int8)  # by the top row
        return np.asarray(self._function({"observation": planes, "action_mask": masks}))


def require_policy(kind: type[Any], who: str = "") -> None:
    """Refuse a class of policies that cannot be asked what it prefers.

    Raises:
        InvalidModel: it is one; the message begins with ``who``.
    """
    if not hasattr(kind, "make_q_net") and not hasattr(kind, "get_distribution"):
        raise InvalidModel(
            f"{who}a {kind.__name__}: expected the policy of MaskablePPO, PPO, A2C or DQN"
        )


def require_ours(observation_space: Any, action_space: Any, who: str = "") -> Any:
    """The shape that a model observes, which is that of a layout of ``ConnectFourEnv``.

    Raises:
        InvalidModel: its spaces are others; the message begins with ``who``.
    """
    shape = getattr(observation_space, "shape", None)
    if shape not in LAYOUT_SHAPES.values():
        ours = ", ".join(f"{name} {shape}" for name, shape in LAYOUT_SHAPES.items())
        raise InvalidModel(
            f"{who}it observes {observation_space}: expected a layout of ConnectFourEnv: {ours}"
        )
    if getattr(action_space, "n", None) != COLUMNS:
        raise InvalidModel(f"{who}it acts in {action_space}: expected Discrete({COLUMNS})")
    return shape


def agent_of(model: Any, temperature: float = 0.0, **unknown: Any) -> Agent:
    """A model, or a function, as an agent.

    Args:
        model: see the module; a function that is not marked by ``c4env.batched`` is given one
            observation. An agent is handed back as it is.
        temperature: as for :class:`ModelAgent`; a function of one observation has none.
        unknown: refused.

    Raises:
        InvalidSpec: it is none of these.
        InvalidModel: it is made for another environment.
        WrongBoard: it is an agent of a board of another size.
        InvalidValue, UnknownOption: a bad temperature, or another option.
    """
    if unknown:
        raise UnknownOption(f"{type(model).__name__}: options {sorted(unknown)}: only temperature")
    require_board(model, BOARD_SIZE, model)
    if isinstance(model, Agent):
        return model
    if is_batched(model):
        return BatchFunctionAgent(model, temperature)
    if is_model(model):
        policy = getattr(model, "policy", model)
        if hasattr(policy, "obs_to_tensor"):
            return PolicyAgent(policy, temperature)
        return ModuleAgent(model, temperature)
    if isinstance(model, type) or not callable(model):
        raise InvalidSpec(
            f"agent {model!r}: expected name:key=value,key=value, a model of Stable-Baselines3 or "
            "PyTorch, or a function"
        )
    if temperature:
        raise UnknownOption(f"{model!r}: temperature: a function of one observation has none")
    return FunctionAgent(model)


def maker_of(model: Any) -> Callable[..., Agent]:
    """What makes agents of a model, as a class of agents is called with options."""

    def make(temperature: float = 0.0) -> Agent:
        """a model that was registered"""
        return agent_of(model, temperature)

    return make
