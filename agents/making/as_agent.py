"""Makes an agent from an object: from a function of one observation, or from a network.

A network answers for many boards (``c4env.agents.making.networks.network``). The decorator
``c4env.batched`` says that a function answers for many boards.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from c4env.agents.base import Agent, BatchAgent, require_move
from c4env.agents.making.kinds import NETWORKS, Kind, kind_of
from c4env.agents.making.networks.network import as_network
from c4env.agents.making.options import (
    Option,
    Policy,
    Temperature,
    options_of,
    require_known,
    validate_args,
)
from c4env.envs.opponents import reset_player
from c4env.envs.streams import streams
from c4env.errors import EngineFault, InvalidAction, InvalidOption, brief
from c4env.observation import observe
from c4env.position import Position, parse_column
from c4env.rules import COLUMNS

if TYPE_CHECKING:
    from c4env.arrays import Int64s

_BATCHED_HINT: Final = "a function that answers for many boards must be marked by c4env.batched"
REMEDIES: Final = (
    "mark a function of (observations, masks) by c4env.batched; of (observation, configuration), "
    "use kaggle:FILE.py; a heuristic, use alphabeta:heuristic=FILE.py:NAME"
)
"""What to write for a function that does not take one observation."""


def as_agent(thing: Any, **options: Any) -> Agent:
    """Return a thing as an agent; an agent is returned unchanged.

    Args:
        thing: an agent, a network, or a function of one observation.
        options: for a network, the options of :class:`NetworkAgent`. Other things have no options.

    Raises:
        InvalidOption: ``thing`` is something else, or does not have one of the options.
    """
    kind = kind_of(thing)
    if kind in (Kind.NOTHING, Kind.CLASS):
        raise InvalidOption(f"agent {brief(thing)}: expected {_expected(thing)}")
    if options:
        known = [option.name for option in NETWORK_OPTIONS if kind in NETWORKS]
        require_known(f"{brief(thing)}, {kind.value}", options, known)
    if kind in NETWORKS:
        return NetworkAgent(thing, **options)
    made: Agent = thing if kind is Kind.AGENT else FunctionAgent(thing)
    return made


def _expected(thing: Any) -> str:
    """Return what to pass instead of an object that is not an agent."""
    if isinstance(thing, type):
        return f"an object of the class: {thing.__name__}()"
    if callable(getattr(thing, "choose", None)):
        return f"its class {type(thing).__name__} to derive from c4env.agents.Agent"
    if isinstance(thing, dict) and thing and all(hasattr(v, "shape") for v in thing.values()):
        return "a network, not its weights: network.load_state_dict(weights), then the network"
    if isinstance(thing, list | tuple | set | dict):
        return "one agent; of several, c4env.agents.Pool({agent: weight, ...}) draws"
    return "an agent, its spec name:key=value,key=value, a network or model, or a function"


class FunctionAgent(Agent):
    """An agent that passes observations to a function or to another library's policy.

    The agent counts as stochastic, since the function may draw random numbers, unless the function
    has ``deterministic = True``. A new game calls the function's ``reset(seed)`` if it has one.

    Raises:
        InvalidOption: the function takes other arguments.
    """

    def __init__(self, function: Callable[[Any], Any]) -> None:
        try:
            inspect.signature(function).bind(None)
        except TypeError as error:
            raise InvalidOption(
                f"agent {getattr(function, '__name__', function)!r}: {error}: expected a function "
                f"of one observation; {REMEDIES}"
            ) from None
        except ValueError:  # Python cannot find the signature
            pass
        self.function = function
        self.name = getattr(function, "__name__", type(function).__name__)

    @property
    def _repeats(self) -> bool:
        """Whether the function declares that it repeats its column in the same position."""
        return getattr(self.function, "deterministic", False) is True

    @property
    def version(self) -> Any:
        """The function's attribute ``version``, by which a stored run recognises the function."""
        return getattr(self.function, "version", "")

    def reset(self, seed: Any = None) -> None:
        """Call the function's ``reset``, if any."""
        reset_player(self.function, seed)

    def reseed(self, seed: int) -> None:
        """Do nothing, because a function gets a seed only for each game."""

    def choose(self, position: Any) -> int:
        """Return the function's column for the observation of the side to move.

        Raises:
            IllegalMove: the game is over.
        """
        require_move(position)
        return self._column(observe(position))

    def _ask_each(self, discs: Int64s, seeds: Int64s) -> Int64s:
        from c4env.envs.batch import observed

        observations = observed(discs)
        planes, masks = observations["observation"], observations["action_mask"]
        columns = np.empty(len(discs), np.int64)
        for i in range(len(discs)):
            columns[i] = self._column({"observation": planes[i], "action_mask": masks[i]})
        return columns

    def _column(self, observation: Any) -> int:
        try:
            answer = self.function(observation)
        except IndexError as error:  # perhaps one board does not have the axis
            words = f"{error}; {_BATCHED_HINT}"  # NumPy's AxisError does not show other args
            raise IndexError(words).with_traceback(error.__traceback__) from error
        self.nodes = getattr(self.function, "nodes", 0)
        if np.shape(answer) if hasattr(answer, "shape") else isinstance(answer, list | tuple):
            text = " ".join(repr(answer).split())[:60]
            raise InvalidAction(f"{text}: expected one column; {_BATCHED_HINT}")
        return parse_column(answer)


class NetworkAgent(BatchAgent):
    """Plays the legal column that a network prefers most, or samples from its policy.

    Args:
        network: a network; :func:`as_network` describes networks and ``policy``.
        temperature: 0 plays the preferred column; 1 samples a column, as in training. At 0, ties
            go to the left. Above 0, probabilities are ``softmax(logits / temperature)``.
    """

    @validate_args
    def __init__(self, network: Any, temperature: Temperature = 0.0, policy: Policy = None) -> None:
        super().__init__()
        self.network = as_network(network, policy)
        self.temperature = temperature
        self.name = self.network.name

    @property
    def _repeats(self) -> bool:
        """Whether the same position always gets the same column."""
        return self.network.deterministic and self.temperature == 0

    @property
    def version(self) -> Any:
        """The network's attribute ``version``, by which a stored run recognises the network."""
        return getattr(self.network.source, "version", "")

    def reset(self, seed: int | np.random.SeedSequence | None = None) -> None:
        """Begin a new game; if the network is a function with a method ``reset``, call it."""
        super().reset(seed)
        if kind_of(self.network.source) in (Kind.BATCHED, Kind.FUNCTION):
            reset_player(self.network.source, seed)

    def choose(self, position: Position) -> int:
        """Choose the 0-based column to play.

        Raises:
            EngineFault: the network's column is full or not on the board.
        """
        column = super().choose(position)
        if not position.is_legal(column):
            words = f"{self.network.name} answered [{column}]: expected legal columns"
            raise EngineFault(words, "illegal column")
        return column

    def choose_many(self, discs: Int64s, seeds: Int64s) -> Int64s:
        """Choose columns, int64 ``[M]``, in one batch; :meth:`Network.scores` has the errors.

        If the network answers columns, this method does not check that they are legal.
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


NETWORK_OPTIONS: Final[tuple[Option, ...]] = options_of(NetworkAgent)[1:]
"""The options of every network."""
