"""``torch:FILE.py:NAME``: a PyTorch module, or a function of tensors, as an agent.

If the training of the network continues, the agent plays with the current weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from c4env.agents.base import as_number
from c4env.agents.making.as_agent import NetworkAgent
from c4env.agents.making.kinds import Kind, kind_of
from c4env.agents.making.networks.network import (
    ModuleNetwork,
    TensorNetwork,
    import_network,
)
from c4env.agents.making.options import Policy, Temperature, validate_args
from c4env.arrays import Int64s
from c4env.errors import InvalidOption
from c4env.lazy import from_extra


class TorchFunction(NetworkAgent):
    """Plays by a PyTorch module, or a function of tensors (needs the package torch).

    Random numbers from PyTorch's CPU generator repeat with the seed of :meth:`reset`. A move leaves
    PyTorch's generator as it was.

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
        """Begin a new game; ``seed`` also seeds the network's random numbers."""
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
