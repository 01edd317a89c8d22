"""Networks in one shape: PyTorch modules, models of Stable-Baselines3, and functions.

A network answers for M boards at once::

    network(observations, masks) -> logits [M, 7], or (logits [M, 7], values [M])

Its attribute ``layout`` names the layout of its observations (:mod:`c4env.observation`); without
it, they are ``planes_last``, ``[M, 6, 7, 2]``. The masks, int8 ``[M, 7]``, are for a network that
requires two arguments. A function marked by ``c4env.batched`` that requires one gets a dict of
both. Values are expected results for the side to move, from -1 to 1.

Instead of logits a network may give probabilities, which the option ``policy`` declares.
"""

from __future__ import annotations

import contextlib
import inspect
import sys
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from c4env.agents.base import Agent
from c4env.agents.imports import format_error, import_callable
from c4env.agents.options import POLICIES
from c4env.arrays import Bools, Float64s, Int8s, Int64s
from c4env.envs.opponents import batched, is_batched
from c4env.errors import EngineFault, InvalidOption
from c4env.observation import LAYOUTS, Form
from c4env.rules import COLUMNS

Output = tuple[NDArray[Any], NDArray[Any] | None]
"""Logits ``[M, 7]`` or columns ``[M]``, and values ``[M]``, or None without them."""

WRAPPERS: Final = {
    "OptimizedModule": "_orig_mod",
    "DataParallel": "module",
    "DistributedDataParallel": "module",
}
"""The attribute with the user's module, by the name of a class of PyTorch."""


TOLERANCE: Final = 0.01
"""How far a sum of probabilities may be from 1; bfloat16 has 8 bits."""


@batched
class WrappedNetwork:
    """A user's network, to call with NumPy arrays.

    Attributes:
        source: the user's function or module.
        policy: ``"logits"`` or ``"probabilities"``; None until an answer shows that they are
            logits.
        name: the name of the function, or of the module's class.
        deterministic: whether the source says so, by an attribute ``deterministic``.

    Raises:
        InvalidOption: the source has other parameters, or no layout has the declared name.
    """

    def __init__(self, source: Any, policy: str | None = None, dtype: str = "int8") -> None:
        target = inner_of(source)
        self.source = source
        self.policy = policy
        self.name = getattr(source, "__name__", type(target).__name__)
        self.deterministic = getattr(target, "deterministic", False) is True
        layout = getattr(target, "layout", None)
        self.is_declared = isinstance(layout, str)
        self.form = Form(layout if isinstance(layout, str) else "planes_last", dtype)
        self.takes_masks = takes_masks(target, self.name)
        self.takes_dict = is_batched(target) and not self.takes_masks
        if policy not in (None, *POLICIES):
            expected = " or ".join(POLICIES)
            raise InvalidOption(f"{self.name}: policy={policy!r}: expected {expected}")

    def __call__(self, planes: Int8s, masks: Int8s) -> Output:
        """Return the network's answer to planes, int8 ``[M, 6, 7, 2]``, and masks.

        Raises:
            InvalidOption: the rows of the policy are not what the option ``policy`` says; or
                nothing says what they are, and they look like probabilities.
        """
        scores, values = self.ask(planes, masks)
        # The caller judges columns, and answers of another shape.
        if self.policy != "logits" and scores.shape == masks.shape and scores.size:
            scores = self._logits(scores.astype(np.float64), masks)
        return scores, values

    def ask(self, planes: Int8s, masks: Int8s) -> Output:
        """Return the source's answer in arrays."""
        return split_answer(self.source(*self.arguments(self.form(planes), masks)))

    def arguments(self, observations: Any, masks: Any) -> tuple[Any, ...]:
        """Return the arguments that the source takes."""
        if self.takes_dict:
            return ({"observation": observations, "action_mask": masks},)
        return (observations, masks) if self.takes_masks else (observations,)

    def _logits(self, rows: Float64s, masks: Int8s) -> Float64s:
        """Return rows of a policy ``[M, 7]`` as logits."""
        if self.policy is None:
            if are_probabilities(rows):
                raise InvalidOption(
                    f"{self.name}: each row of its policy is >= 0 and sums to 1, as probabilities "
                    "do: expected policy=probabilities or policy=logits (in Python "
                    "agents.make(network, policy='probabilities'))"
                )
            self.policy = "logits"
            return rows
        legal = np.where(masks, rows, 0.0)  # what a full column gets is ignored
        if not are_probabilities(legal, masks.min(axis=1) == 0):
            raise InvalidOption(
                f"{self.name}: returned the probabilities {rows.tolist()!s:.200}: expected rows "
                ">= 0 that sum to 1, or policy=logits"
            )
        with np.errstate(divide="ignore"):
            return np.log(legal)

    def evaluate(self, boards: Int64s) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return logits and values of boards, int64 ``[M, 2]``, as ``GumbelSearch`` asks.

        The values are 0 if the network gives none.
        """
        from c4env.envs.batch import observed  # compiled

        observations = observed(boards)
        logits, values = self(observations["observation"], observations["action_mask"])
        return logits, np.zeros(len(boards)) if values is None else values


class TorchNetwork(WrappedNetwork):
    """A PyTorch module or a function of tensors.

    The tensors are on the device of the module's parameters and have their dtype, or float32; in
    the layout ``tokens`` they are int64. A module is called in evaluation mode, without gradients.
    ``device`` is for a function, or a module without parameters.
    """

    def __init__(self, source: Any, policy: str | None = None, device: Any = None) -> None:
        super().__init__(source, policy, "float32")
        self.device = device
        if self.form.layout == "tokens":
            self.form = Form("tokens", "int64")

    def ask(self, planes: Int8s, masks: Int8s) -> Output:
        """Return the module's answer."""
        import torch

        module, device, dtype = self.source, self.device, None
        weights = next(module.parameters(), None) if is_module(module) else None
        if weights is not None:
            device = weights.device
            if weights.is_floating_point() and self.form.layout != "tokens":
                dtype = weights.dtype
        observations = torch.from_numpy(self.form(planes)).to(device, dtype)
        arguments = self.arguments(observations, torch.from_numpy(masks).to(device))
        with torch.no_grad(), evaluating(module):
            try:
                answer = module(*arguments)
            except RuntimeError as error:  # most often of shapes that do not fit
                if self.is_declared:
                    raise
                planes_first = (len(planes), *LAYOUTS["planes_first"].shape)
                raise EngineFault(
                    f"{self.name}: {' '.join(str(error).split())[:200]}; it got observations "
                    f"{tuple(observations.shape)}; with layout = 'planes_first' it gets "
                    f"{planes_first}"
                ) from error
            return split_answer(answer, len(planes))


class PolicyNetwork(WrappedNetwork):
    """A policy of Stable-Baselines3; the shape of its observations determines the layout.

    ``critic``: whether to ask for values too. The values of a DQN are its greatest Q-values.
    """

    def __init__(self, policy: Any, critic: bool = False) -> None:
        self.source, self.critic, self.name = policy, critic, type(policy).__name__
        self.form = form_of(type(policy), policy.observation_space, policy.action_space)
        self.policy = "logits"
        self.deterministic = True

    def ask(self, planes: Int8s, masks: Int8s) -> Output:
        """Return logits, or the Q-values of a DQN."""
        import torch

        policy = self.source
        with torch.no_grad(), evaluating(policy):
            observations, _ = policy.obs_to_tensor(self.form(planes))
            if hasattr(policy, "q_net"):
                scores = as_array(policy.q_net(observations))
                values = np.where(masks, scores, -np.inf).max(axis=1) if self.critic else None
            else:
                scores = as_array(policy.get_distribution(observations).distribution.logits)
                values = (
                    as_array(policy.predict_values(observations))[:, 0] if self.critic else None
                )
        return scores, None if values is None else values.clip(-1.0, 1.0)


def network_of(model: Any, policy: str | None = None, critic: bool = False) -> WrappedNetwork:
    """Wrap a network: a model, a module, or a function, which needs no mark here.

    Args:
        model: the network.
        policy: ``"logits"`` or ``"probabilities"``, what the network gives. Without it they are
            logits, and an answer that looks like probabilities is refused.
        critic: ask for values too, which a policy of Stable-Baselines3 computes apart.

    Raises:
        InvalidOption: the model is no network, is for another environment, or was trained with
            ``VecNormalize``; or ``policy`` is another.
    """
    learned = model if is_module(model) else getattr(model, "policy", model)
    if not (is_module(learned) and hasattr(learned, "obs_to_tensor")):
        if not callable(model) or isinstance(model, Agent | type):
            raise InvalidOption(f"{model!r}: expected a network: a model, a module or a function")
        return (TorchNetwork if is_module(model) else WrappedNetwork)(model, policy)
    who = type(model).__name__
    if policy not in (None, "logits"):
        raise InvalidOption(f"{who}: policy={policy!r}: expected logits, which its models give")
    normalised = getattr(model, "get_vec_normalize_env", lambda: None)()
    if normalised is not None and normalised.norm_obs:
        raise InvalidOption(
            f"{who} trained with VecNormalize, whose statistics an agent "
            "does not have: expected VecNormalize(norm_obs=False), since planes are 0 or 1"
        )
    network = PolicyNetwork(learned, critic)
    network.name = who
    return network


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
    layouts = [name for name, layout in LAYOUTS.items() if layout.shape == shape]
    if not layouts:
        shapes = ", ".join(f"{name} {layout.shape}" for name, layout in LAYOUTS.items())
        raise InvalidOption(
            f"{who}observations {observation_space}: expected a layout of ConnectFourEnv: {shapes}"
        )
    if getattr(action_space, "n", None) != COLUMNS:
        raise InvalidOption(f"{who}actions {action_space}: expected Discrete({COLUMNS})")
    return Form(layouts[0])


def is_module(thing: object) -> bool:
    """Whether an object is a PyTorch module; PyTorch is imported already, or it is none."""
    return isinstance(thing, getattr(sys.modules.get("torch.nn"), "Module", ()))


def inner_of(module: Any) -> Any:
    """Return the user's module inside one of ``torch.compile`` or ``DataParallel``."""
    name = WRAPPERS.get(type(module).__name__) if is_module(module) else None
    return module if name is None else inner_of(getattr(module, name))


def are_probabilities(rows: Float64s, less: Bools | bool = False) -> bool:
    """Return whether rows ``[M, 7]`` are >= 0 and sum to 1; where ``less``, at most to 1."""
    if not (rows >= 0).all():
        return False
    excess = rows.sum(axis=1) - 1
    return bool((np.where(less, excess, abs(excess)) <= TOLERANCE).all())


def takes_masks(target: Any, name: str) -> bool:
    """Return whether a function or module requires two arguments, the second for masks.

    Raises:
        InvalidOption: it takes neither one argument nor two, or Python cannot tell; the message
            begins with ``name``.
    """
    function = target.forward if is_module(target) else target
    try:
        signature = inspect.signature(function)
        by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        parameters = signature.parameters.values()
        required = sum(p.kind in by_place and p.default is p.empty for p in parameters)
        signature.bind(*[None] * (2 if required == 2 else 1))
    except (TypeError, ValueError) as error:
        schema = getattr(function, "schema", None)  # of TorchScript, which has no signature
        if isinstance(error, TypeError) or schema is None:
            raise InvalidOption(
                f"{name}: {error}: expected a network of observations, or of observations and masks"
            ) from None
        required = sum(not argument.has_default_value() for argument in schema.arguments)
        required -= is_module(target)  # itself
    return required == 2


@contextlib.contextmanager
def evaluating(module: Any) -> Iterator[None]:
    """Put a module into evaluation mode; afterwards each part has its own mode again."""
    parts = [part for part in module.modules() if part.training] if is_module(module) else []
    for part in parts:
        part.training = False
    try:
        yield
    finally:
        for part in parts:
            part.training = True


def split_answer(answer: Any, boards: int | None = None) -> Output:
    """Split a network's answer into logits, or columns, and values.

    ``boards``: how many, for a tensor whose first dimension may be missing; None for arrays.
    """
    values = None
    is_tuple = isinstance(answer, tuple)
    first = answer[0] if (is_tuple or isinstance(answer, list)) and answer else None
    # A list may also be columns, or rows of logits.
    if getattr(first, "ndim", 0) or (is_tuple and isinstance(first, list)):
        answer, values = first, as_array(answer[1]) if len(answer) > 1 else None
    scores = as_array(answer)
    if boards and scores.dtype.kind != "O" and scores.size % boards == 0:
        scores = scores.reshape((boards,) if scores.size == boards else (boards, -1))
        values = values if values is None or values.size != boards else values.reshape(boards)
    return scores, values


def as_array(answer: Any) -> NDArray[Any]:
    """Return an array or tensor as an array; wrap any other object in an array of dtype object."""
    if hasattr(answer, "detach"):  # a tensor
        answer = answer.detach().cpu()
        answer = (answer.double() if answer.is_floating_point() else answer).numpy()
    try:
        array = np.asarray(answer)
        if array.dtype.kind in "biuf":
            return array
    except ValueError:  # rows of several lengths
        pass
    one = np.empty((), object)
    one[()] = answer
    return one


def import_network(path: str, who: str, expected: str) -> Any:
    """Import a function or module; a class is called without arguments.

    Raises:
        InvalidOption: the path names none; the message begins with ``who``.
    """
    source = import_callable(path, InvalidOption, who, expected)
    if isinstance(source, type):
        try:
            source = source()
        except Exception as error:  # a user's code may raise any error
            raise InvalidOption(f"{who}: {format_error(error)}") from error
    if not callable(source) or isinstance(source, Agent):
        raise InvalidOption(f"{who} is {source!r}: expected a function or module")
    return source
