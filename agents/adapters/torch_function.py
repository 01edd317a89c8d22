"""``torch:FILE.py:NAME``: an agent from a user's PyTorch function or module."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from c4env.agents.adapters.model import ModelAgent
from c4env.agents.base import as_number
from c4env.agents.errors import EngineFault, InvalidValue
from c4env.agents.registry.imports import import_callable
from c4env.agents.registry.options import checked
from c4env.arrays import Int8s
from c4env.bitboard import COLUMNS
from c4env.errors import InvalidAction
from c4env.lazy import from_extra
from c4env.observation import Form
from c4env.position import parse_column


class TorchFunction(ModelAgent):
    """Plays the legal column with the greatest logit of a PyTorch function.

    The function gets a tensor, float32 ``[1, 2, 6, 7]``: one board, with the discs of the side to
    move in plane 0, the other side's discs in plane 1, and row 0 on top. The function returns
    logits ``[1, 7]`` or ``[7]``; a tuple that begins with logits, as networks with a value head
    return; or a column (an int or a tensor of one integer). Ties go to the left; logits of full
    columns are ignored. Calls run without gradients, and modules in evaluation mode.

    Args:
        function: FILE.py:NAME. The file's code runs, so name only files that you trust. A class is
            called without arguments.
        device: the device of the tensors and of a module.

    Raises:
        InvalidValue: the named object is not callable, or the device does not exist.
        MissingExtra: PyTorch is not installed.
    """

    settings_are_all = True  # another process loads the file again

    @checked
    def __init__(self, function: str, device: str = "cpu") -> None:
        super().__init__()
        with from_extra("torch", "torch: not installed"):
            torch = importlib.import_module("torch")
        self._torch = torch
        try:
            self._device = torch.device(device)
            torch.empty(1, device=self._device)
        except (RuntimeError, AssertionError) as error:
            raise InvalidValue(f"torch: device={device!r}: {error}") from None
        found = import_callable(function, InvalidValue, f"torch: {function!r}", "FILE.py:NAME")
        if isinstance(found, type):
            found = found()
        if not callable(found):
            raise InvalidValue(f"torch: {function!r} is {found!r}: expected a function or module")
        if isinstance(found, torch.nn.Module):
            found = found.to(self._device).eval()
        self._function = found
        self._title = function

    def reset(self, seed: int | np.random.SeedSequence | None = None) -> None:
        """Begin a new game; ``seed`` also seeds PyTorch's generator."""
        number = as_number(seed)
        if number is not None:
            self._torch.manual_seed(number)

    def preferences(self, planes: Int8s) -> NDArray[Any]:
        """Return the function's logits or columns for each board; see :class:`ModelAgent`.

        Raises:
            EngineFault: the function returns neither seven logits nor a column.
        """
        given = self._torch.from_numpy(Form("planes_first", "float32")(planes))
        with self._torch.inference_mode():
            boards = given.to(self._device).split(1)
            return np.stack([self._read(self._function(board)) for board in boards])

    def _read(self, answer: Any) -> Any:
        """Parse the function's result as seven logits or a column."""
        if isinstance(answer, tuple | list) and answer and self._torch.is_tensor(answer[0]):
            answer = answer[0]
        if self._torch.is_tensor(answer) and answer.numel() == COLUMNS:
            return answer.detach().cpu().to(self._torch.float64).numpy().reshape(COLUMNS)
        try:
            return parse_column(answer)
        except (InvalidAction, RuntimeError, TypeError, ValueError):
            shape = getattr(answer, "shape", None)
            shown = f"a tensor of shape {tuple(shape)}" if shape is not None else repr(answer)[:80]
            raise EngineFault(
                f"{self._title} answered {shown}: expected logits of the seven columns, or a "
                "column 0..6"
            ) from None
