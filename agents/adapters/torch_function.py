"""``torch:FILE.py:NAME``: an agent from a user's PyTorch function or module."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from c4env.agents.adapters.model import ModuleAgent
from c4env.agents.base import as_number
from c4env.agents.registry.imports import import_callable
from c4env.agents.registry.options import Temperature, validate_args
from c4env.arrays import Int8s
from c4env.errors import InvalidOption
from c4env.lazy import from_extra


class TorchFunction(ModuleAgent):
    """Plays by a PyTorch function or module, one board a call (needs the package torch).

    Args:
        function: FILE.py:NAME. The file's code runs, so name only files that you trust. A class is
            called without arguments.
        device: the device of the tensors and of a module.

    Raises:
        InvalidOption: the named object is not callable, or the device does not exist.
    """

    @validate_args
    def __init__(self, function: str, device: str = "cpu", temperature: Temperature = 0.0) -> None:
        with from_extra("torch", "torch: not installed"):
            torch = importlib.import_module("torch")
        try:
            torch.empty(1, device=device)
        except (RuntimeError, AssertionError) as error:
            raise InvalidOption(f"torch: device={device!r}: {error}") from None
        found = import_callable(function, InvalidOption, f"torch: {function!r}", "FILE.py:NAME")
        if isinstance(found, type):
            found = found()
        if not callable(found):
            raise InvalidOption(f"torch: {function!r} is {found!r}: expected a function or module")
        if isinstance(found, torch.nn.Module):
            found = found.to(device)
        super().__init__(found, temperature)
        self._device = device

    def reset(self, seed: int | np.random.SeedSequence | None = None) -> None:
        """Begin a new game; ``seed`` also seeds PyTorch's generator."""
        super().reset(seed)
        number = as_number(seed)
        if number is not None:
            importlib.import_module("torch").manual_seed(number)

    def preferences(self, planes: Int8s) -> NDArray[Any]:
        """Return the function's logits or columns for each board."""
        boards = np.split(planes, len(planes))
        return np.concatenate([super(TorchFunction, self).preferences(each) for each in boards])
