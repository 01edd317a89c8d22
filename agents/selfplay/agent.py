"""``selfplay:DIR``: networks trained by ``python -m c4env.agents.selfplay.train``."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from c4env.agents.adapters.models import ModelAgent
from c4env.agents.base import Agent, derived
from c4env.agents.registry.entries import Range
from c4env.agents.registry.options import Temperature, validate_args
from c4env.arrays import Int8s
from c4env.errors import InvalidOption


class SelfPlay(ModelAgent):
    """Plays by a network's mean policy for the board and its mirror image, without a search.

    ``network`` is a training folder, whose latest network plays, a network file, or a
    :class:`c4env.agents.selfplay.network.Evaluator`.
    """

    deterministic = derived(lambda agent: agent.temperature == 0)

    def __init__(self, network: Any, temperature: float = 0.0) -> None:
        from c4env.agents.selfplay.network import Evaluator

        super().__init__(temperature)
        self._network = network if callable(network) else Evaluator.load(network)

    def preferences(self, planes: Int8s) -> Any:
        """Return the mean logits ``[M, 7]``."""
        logits, _ = self._network(np.concatenate([planes, planes[:, :, ::-1]]))
        return (logits[: len(planes)] + logits[len(planes) :, ::-1]) / 2


@validate_args
def selfplay(
    path: str,
    simulations: Annotated[int, Range(0, 10**9)] = 0,
    temperature: Temperature = 0.0,
) -> Agent:
    """Play by a self-play network, alone or with ``puct`` (needs the package torch).

    With simulations, ``puct`` evaluates two leaves at a time, follows forced moves, flattens the
    policy at the root, and plays the best column of the improved policy. With these settings puct
    errs less than with its defaults.

    Args:
        path: the training folder, or a network file.
        simulations: simulations of puct for a move; 0: the policy alone.

    Raises:
        InvalidOption: both simulations and a temperature are given.
    """
    if not simulations:
        return SelfPlay(path, temperature)
    if temperature:
        raise InvalidOption(
            f"selfplay:{path}: simulations={simulations}, temperature={temperature}: expected "
            "only one of them"
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
