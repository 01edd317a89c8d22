"""Networks: functions, PyTorch modules and models of Stable-Baselines3 that answer for many boards.

    network(observations, masks) -> logits [M, 7], or (logits [M, 7], values [M])

The network's attribute ``layout`` names the layout of its observations
(:mod:`c4env.observation`). Without the attribute, the layout is ``planes_last``,
``[M, 6, 7, 2]``. A network that requires two arguments also gets the masks, int8 ``[M, 7]``. A
function decorated by ``c4env.batched`` that requires one argument gets a dict of observations and
masks. Values are expected results for the side to move, from -1 to 1.

A network may give probabilities instead of logits; the option ``policy`` declares them.
:func:`as_network` makes a :class:`Network` of each kind, for agents and searches to ask.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from c4env.agents.base import Agent
from c4env.agents.making.import_path import import_callable
from c4env.agents.making.kinds import Kind, kind_of
from c4env.agents.making.options import POLICIES
from c4env.arrays import Bools, Float64s, Int8s, Int64s
from c4env.envs.opponents import is_batched
from c4env.errors import EngineFault, InvalidOption, brief, describe_error
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


class Network:
    """A function of many boards that is called with NumPy arrays and checks the answers.

    Attributes:
        source: the user's function or module.
        policy: ``"logits"`` or ``"probabilities"``; None until an answer shows that they are
            logits.
        name: the name of the function, or of the module's class.
        deterministic: whether the source's attribute ``deterministic`` is True.
        layout: the layout that the source declares, or None.
        takes: the arguments of the source: ``"both"`` (observations and masks), ``"dict"`` (one
            dict with observations and masks) or ``"one"`` (observations only).

    Raises:
        InvalidOption: the source requires other parameters, or no layout has the declared name.
    """

    takes: Literal["both", "dict", "one"] = "both"
    hint = "; mark a function of a dict by c4env.batched"  # for a function of one board that fails

    def __init__(self, source: Any, policy: str | None = None, dtype: str = "int8") -> None:
        target = inner_of(source)
        self.source = source
        self.policy = policy
        self.name = getattr(source, "__name__", type(target).__name__)
        self.deterministic = getattr(target, "deterministic", False) is True
        layout = getattr(target, "layout", None)
        self.layout = layout if isinstance(layout, str) else None
        self.form = Form(self.layout or "planes_last", dtype)
        if not takes_masks(target, self.name):
            self.takes = "dict" if is_batched(target) else "one"
        if policy not in (None, *POLICIES):
            expected = " or ".join(POLICIES)
            raise InvalidOption(f"{self.name}: policy={policy!r}: expected {expected}")

    def scores(self, planes: Int8s, masks: Int8s) -> NDArray[Any]:
        """Return the network's logits, float64 ``[M, 7]``, or its columns, int64 ``[M]``.

        Args:
            planes: int8 ``[M, 6, 7, 2]``, the side to move first.
            masks: int8 ``[M, 7]``, 1 for legal columns; illegal columns may have any logits.

        Raises:
            EngineFault: the answer has another form, or has nan for a legal column.
            InvalidOption: the policy is not of the kind that the option ``policy`` declares. Or
                the option is missing, and the policy looks like probabilities.
        """
        return self._checked(self._ask(planes, masks)[0], masks)

    def evaluate(self, boards: Int64s) -> tuple[Float64s, Float64s]:
        """Return logits ``[M, 7]`` and values ``[M]`` of boards, int64 ``[M, 2]``, for a search.

        Full columns have the logit -inf. The values are 0 if the network gives none.

        Raises:
            EngineFault, InvalidOption: as :meth:`scores`. EngineFault also if the answer has no
                logits, an infinite logit, or a value that is not a number from -1 to 1.
        """
        from c4env.envs.batch import observed  # compiled

        observations = observed(boards)
        masks = observations["action_mask"]
        answer, values = self._ask(observations["observation"], masks, True)
        logits = self._checked(answer, masks)
        if logits.shape != masks.shape:
            raise self._fault(f"answered {logits.tolist()[:8]}", "logits, which a search needs")
        logits = np.where(masks != 0, logits.astype(np.float64, copy=False), -np.inf)
        if (logits == np.inf).any():
            raise self._fault(f"returned the logits {logits.tolist()}", "finite logits")
        if values is None:
            return logits, np.zeros(len(masks))
        if values.shape != (len(masks),) or not (np.abs(values) <= 1.0).all():
            raise self._fault(
                f"returned the values {values.tolist()}",
                f"numbers from -1 to 1, as tanh gives them, of the shape {masks.shape[:1]}",
            )
        return logits, np.ascontiguousarray(values, np.float64)

    def _ask(self, planes: Int8s, masks: Int8s, values: bool = False) -> Output:
        """Return the source's answer in arrays; ``values`` says whether they are needed."""
        return split_answer(self._call(self.form(planes), masks))

    def _call(self, observations: Any, masks: Any) -> Any:
        if self.takes == "both":
            return self.source(observations, masks)
        if self.takes == "dict":
            return self.source({"observation": observations, "action_mask": masks})
        try:
            return self.source(observations)
        except (IndexError, KeyError, TypeError) as error:
            if not self.hint:
                raise
            got = f"observations {tuple(observations.shape)}"
            raise self._fault(
                f"raised {describe_error(error)} for {got}",
                "a function that answers for many boards",
            ) from error

    def _fault(self, what: str, expected: str) -> EngineFault:
        hint = self.hint if self.takes == "one" else ""
        return EngineFault(f"{self.name} {what:.300}: expected {expected}{hint}")

    def _checked(self, answer: NDArray[Any], masks: Int8s) -> NDArray[Any]:
        """Return logits or columns as :meth:`scores` does, or raise the error that it describes."""
        if answer.dtype.kind not in "biuf":
            raise self._fault(
                f"answered {answer.tolist()!r:.80}",
                f"logits of the {COLUMNS} columns, or a column 0..{COLUMNS - 1}",
            )
        if answer.shape == masks.shape[:1]:
            if answer.dtype.kind not in "iu":
                raise self._fault(f"answered {answer.tolist()[:8]}", "legal columns")
            return answer.astype(np.int64)  # the game or the environment checks the columns
        if answer.shape != masks.shape:
            raise self._fault(
                f"returned shape {answer.shape}",
                f"{masks.shape}, or {masks.shape[:1]} columns, one for each board",
            )
        rows = answer.astype(np.float64, copy=False)
        if self.policy != "logits" and rows.size:
            rows = self._logits(rows, masks)
        if np.isnan(rows[masks != 0]).any():
            raise self._fault("answered nan", "a number for each legal column")
        return rows

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
        legal = np.where(masks, rows, 0.0)  # the probability of a full column is ignored
        if not are_probabilities(legal, masks.min(axis=1) == 0):
            raise InvalidOption(
                f"{self.name}: returned the probabilities {rows.tolist()!s:.200}: expected rows "
                ">= 0 that sum to 1, or policy=logits"
            )
        with np.errstate(divide="ignore"):
            return np.log(legal)


class TensorNetwork(Network):
    """A function of PyTorch tensors on a device; int64 for the layout ``tokens``, else float32."""

    def __init__(self, source: Any, policy: str | None = None, device: Any = None) -> None:
        super().__init__(source, policy, "float32")
        self.device = device
        if self.form.layout == "tokens":
            self.form = Form("tokens", "int64")

    def _ask(self, planes: Int8s, masks: Int8s, values: bool = False) -> Output:
        import torch

        tensors = torch.from_numpy(self.form(planes)), torch.from_numpy(masks)
        return split_answer(self.answer(*tensors), len(planes))

    def answer(self, observations: Any, masks: Any) -> Any:
        """Return the source's answer without checking it.

        Args:
            observations: a tensor in the form :attr:`form`, on any device.
            masks: int8 ``[M, 7]``, a tensor.
        """
        import torch

        observations = self._place(observations)
        with torch.no_grad():
            try:
                return self._call(observations, masks.to(observations.device))
            except RuntimeError as error:  # the shapes usually do not fit
                if self.layout is not None:
                    raise
                planes = observations.to(torch.int8).cpu().numpy()  # in the default layout
                fits = " or ".join(repr(name) for name in LAYOUTS if self._answers(name, planes))
                hint = f"; set its attribute layout to {fits}" if fits else ""
                raise EngineFault(
                    f"{self.name}: {' '.join(str(error).split())[:200]}; it got observations "
                    f"{tuple(observations.shape)}{hint}"
                ) from error

    def _answers(self, layout: str, planes: Int8s) -> bool:
        """Whether the source answers observations in this layout with a policy."""
        import torch

        twin = copy.copy(self)
        twin.form = Form(layout, "int64" if layout == "tokens" else self.form.dtype)
        observations = twin._place(torch.from_numpy(twin.form(planes)))
        masks = torch.ones(len(planes), COLUMNS, dtype=torch.int8, device=observations.device)
        try:
            answer = twin._call(observations, masks)
            return bool(split_answer(answer, len(planes))[0].shape == masks.shape)
        except Exception:  # the user's code may raise any error on another layout
            return False

    def _place(self, observations: Any) -> Any:
        """Return a tensor on the device and of the dtype that the source takes."""
        return observations.to(self.device)


class ModuleNetwork(TensorNetwork):
    """A PyTorch module that is called in evaluation mode.

    The tensors have the device and the dtype of the module's parameters. A module without
    parameters gets the same tensors as a function.
    """

    hint = ""

    def answer(self, observations: Any, masks: Any) -> Any:
        """Return the module's answer in evaluation mode without checking it."""
        with evaluating(self.source):
            return super().answer(observations, masks)

    def _place(self, observations: Any) -> Any:
        weights = next(self.source.parameters(), None)
        if weights is None:
            return super()._place(observations)
        keeps_dtype = self.form.layout == "tokens" or not weights.is_floating_point()
        return observations.to(weights.device, None if keeps_dtype else weights.dtype)


class PolicyNetwork(Network):
    """A model of Stable-Baselines3, or its policy; its observation space determines the layout.

    The values of a DQN are its greatest Q-values.

    Raises:
        InvalidOption: the model is for another environment, the model was trained with
            ``VecNormalize``, or ``policy`` is not ``"logits"``.
    """

    def __init__(self, model: Any, policy: str | None = None) -> None:
        self.name, self.policy, self.deterministic = type(model).__name__, "logits", True
        self.source = net = getattr(model, "policy", model)
        if policy not in (None, "logits"):
            raise InvalidOption(
                f"{self.name}: policy={policy!r}: expected logits, which a model gives"
            )
        normalised = getattr(model, "get_vec_normalize_env", lambda: None)()
        if normalised is not None and normalised.norm_obs:
            raise InvalidOption(
                f"{self.name} trained with VecNormalize, whose statistics an agent "
                "does not have: expected VecNormalize(norm_obs=False), since planes are 0 or 1"
            )
        self.form = form_of(type(net), net.observation_space, net.action_space)

    def _ask(self, planes: Int8s, masks: Int8s, values: bool = False) -> Output:
        import torch

        policy = self.source
        with torch.no_grad(), evaluating(policy):
            observations, _ = policy.obs_to_tensor(self.form(planes))
            if hasattr(policy, "q_net"):
                scores = as_array(policy.q_net(observations))
                return scores, np.where(masks, scores, -np.inf).max(axis=1).clip(-1.0, 1.0)
            scores = as_array(policy.get_distribution(observations).distribution.logits)
            if not values:  # a separate computation
                return scores, None
            return scores, as_array(policy.predict_values(observations))[:, 0].clip(-1.0, 1.0)


NETWORK_TYPES: Final[Mapping[Kind, type[Network]]] = {
    Kind.MODEL: PolicyNetwork,
    Kind.MODULE: ModuleNetwork,
    Kind.BATCHED: Network,
    Kind.FUNCTION: Network,  # where a network is expected, every function is a network
}


def as_network(thing: Any, policy: str | None = None) -> Network:
    """Return a model, a module or a function as a network.

    Args:
        thing: the network. A function does not need ``c4env.batched`` here. A :class:`Network` is
            returned unchanged.
        policy: ``"logits"`` or ``"probabilities"``, what the network gives. None means logits, and
            an answer that looks like probabilities is refused.

    Raises:
        InvalidOption: ``thing`` is not a network, the network cannot play here, or ``policy`` has
            another value.
    """
    if isinstance(thing, Network):
        return thing
    if (kind := kind_of(thing)) in NETWORK_TYPES:
        return NETWORK_TYPES[kind](thing, policy)
    expected = "a network: a model, a module or a function"
    if isinstance(thing, type) and not issubclass(thing, Agent):
        expected = f"an object of the class: {thing.__name__}()"
    raise InvalidOption(f"{brief(thing)}: expected {expected}")


def import_network(path: str, who: str, expected: str) -> Any:
    """Return the function or module of an import path; a class is called without arguments.

    Raises:
        InvalidOption: the path names neither a function nor a module. The message begins with
            ``who``.
    """
    name = path.partition(".py:")[2]
    if name and not name.isidentifier():  # the name may have options, which only agents have
        raise InvalidOption(
            f"{who}: {name!r} is not a name; expected {expected}; a network has no options: NAME "
            "may be a class without arguments that loads its own weights"
        )
    source = import_callable(path, InvalidOption, who, expected)
    if isinstance(source, type):
        try:
            source = source()
        except Exception as error:  # a user's code may raise any error
            raise InvalidOption(f"{who}: {describe_error(error)}") from error
    if kind_of(source) not in NETWORK_TYPES:
        raise InvalidOption(f"{who} is {source!r}: expected a function or module")
    return source


def form_of(policy: type[Any], observation_space: Any, action_space: Any, who: str = "") -> Form:
    """Return the form of the observations that a policy of this class and these spaces takes.

    Raises:
        InvalidOption: the policy is for another environment. Or, as a recurrent policy, it gives
            neither logits nor Q-values from only an observation. The message begins with ``who``.
    """
    try:
        if not hasattr(policy, "make_q_net"):
            inspect.signature(policy.get_distribution).bind(None, None)  # self, observations
    except (AttributeError, TypeError):
        raise InvalidOption(
            f"{who}policy {policy.__name__}: expected Q-values, or a distribution that needs "
            "only observations, as in MaskablePPO, PPO, A2C or DQN"
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


def inner_of(module: Any) -> Any:
    """Return the user's module inside a module of ``torch.compile`` or ``DataParallel``."""
    name = WRAPPERS.get(type(module).__name__) if kind_of(module) is Kind.MODULE else None
    return module if name is None else inner_of(getattr(module, name))


def are_probabilities(rows: Float64s, less: Bools | bool = False) -> bool:
    """Return whether rows ``[M, 7]`` are >= 0 and sum to 1, or to at most 1 where ``less``."""
    if not (rows >= 0).all():
        return False
    excess = rows.sum(axis=1) - 1
    return bool((np.where(less, excess, abs(excess)) <= TOLERANCE).all())


def takes_masks(target: Any, name: str) -> bool:
    """Return whether a function or module requires two arguments, the second for masks.

    Raises:
        InvalidOption: the function takes neither one argument nor two, or Python cannot read its
            parameters. The message begins with ``name``.
    """
    is_module = kind_of(target) is Kind.MODULE
    function = target.forward if is_module else target
    try:
        signature = inspect.signature(function)
        by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        parameters = signature.parameters.values()
        required = sum(p.kind in by_place and p.default is p.empty for p in parameters)
        signature.bind(*[None] * (2 if required == 2 else 1))
    except (TypeError, ValueError) as error:
        schema = getattr(function, "schema", None)  # TorchScript has this instead of a signature
        if isinstance(error, TypeError) or schema is None:
            raise InvalidOption(
                f"{name}: {error}: expected a network of observations, or of observations and masks"
            ) from None
        required = sum(not argument.has_default_value() for argument in schema.arguments)
        required -= is_module  # itself
    return required == 2


@contextlib.contextmanager
def evaluating(module: Any) -> Iterator[None]:
    """Put a module into evaluation mode; afterwards each part has its own mode again."""
    parts = [part for part in module.modules() if part.training]
    for part in parts:
        part.training = False
    try:
        yield
    finally:
        for part in parts:
            part.training = True


def split_answer(answer: Any, boards: int | None = None) -> Output:
    """Split a network's answer into logits or columns, and values.

    ``boards`` is the number of boards for a tensor, whose first dimension may be missing. For
    arrays, ``boards`` is None.
    """
    values = None
    is_tuple = isinstance(answer, tuple)
    first = answer[0] if (is_tuple or isinstance(answer, list)) and answer else None
    # A list may also be columns, or rows of logits.
    if getattr(first, "ndim", 0) or (is_tuple and isinstance(first, list)):
        answer, values = first, as_array(answer[1]) if len(answer) > 1 else None
    scores = as_array(answer)
    fits = boards == 1 or scores.shape[:1] == (boards,)
    if boards and fits and scores.dtype.kind != "O":
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
        if np.can_cast(array.dtype, np.float64):  # JAX's bfloat16
            return array.astype(np.float64)
    except ValueError:  # rows of several lengths
        pass
    one = np.empty((), object)
    one[()] = answer
    return one
