"""Networks of ``python -m c4env.agents.training.selfplay`` as agents: ``selfplay:DIR``."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from c4env.agents.adapters.model import ModelAgent
from c4env.agents.base import Agent
from c4env.agents.errors import InvalidValue
from c4env.agents.registry.entries import Between
from c4env.agents.registry.options import Temperature, checked
from c4env.arrays import Int8s


class SelfPlay(ModelAgent):
    """Plays the legal column that the network's policy prefers, without search.

    The policy is the mean of what the network says of the board and of its mirror image.

    Args:
        network: a folder of self-play, of which the latest network plays, or a network's file; or
            an ``c4env.agents.network.convolution.Evaluator``, asked as it is at the time.
        temperature: as for :class:`~c4env.agents.adapters.model.ModelAgent`.

    Raises:
        MissingExtra: PyTorch is not installed.
        UnreadableWeights: there is no network.
    """

    def __init__(self, network: Any, temperature: float = 0.0) -> None:
        from c4env.agents.network.convolution import Evaluator

        super().__init__(temperature)
        self.deterministic = temperature == 0
        self._network = network if callable(network) else Evaluator.load(network)

    def preferences(self, planes: Int8s) -> Any:
        """Logits ``[M, 7]``; see :class:`ModelAgent`."""
        logits, _ = self._network(np.concatenate([planes, planes[:, :, ::-1]]))
        return (logits[: len(planes)] + logits[len(planes) :, ::-1]) / 2


@checked
def selfplay(
    path: str,
    simulations: Annotated[int, Between(0, 10**9)] = 0,
    temperature: Temperature = 0.0,
) -> Agent:
    """The policy alone; with simulations, what the search ``puct`` makes of the network.

    It asks about two leaves at a time, not about forced moves, takes the policy less seriously at
    the root, and plays the best column by policy and value: it errs less than ``puct`` by default.

    Args:
        path: the folder of its training, or the network's file.
        simulations: a move, by puct; 0: the policy alone.
        temperature: of the policy; 0: the preferred column.

    Raises:
        InvalidValue: simulations and a temperature, which is the policy's alone.
    """
    if not simulations:
        return SelfPlay(path, temperature)
    if temperature:
        raise InvalidValue(
            f"selfplay:{path}: simulations={simulations}, temperature={temperature}: expected "
            "one of them"
        )
    from c4env.agents.sampling.puct import PUCT

    return PUCT(
        f"selfplay:{path}",
        simulations,
        batch=2,
        choice="improved",
        follow=True,
        root_temperature=2.0,
    )
