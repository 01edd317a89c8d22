"""``torch:FILE.py:NAME``: a function or module of PyTorch in a user's file."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

import numpy as np

from agents.base import Agent, as_number, require_move
from agents.errors import EngineFault, InvalidValue
from agents.zoo.imports import import_callable
from c4env.bitboard import COLUMNS
from c4env.errors import InvalidAction, MissingExtra
from c4env.observation import observe
from c4env.position import Position, parse_column


class TorchFunction(Agent):
    """Plays the legal column to which a function gives the greatest logit.

    The function gets one tensor, float32 ``(1, 2, 6, 7)``: a batch of one board, plane 0 the
    discs of the side to move, plane 1 the other's, row 0 on top. It returns logits of the
    seven columns, ``(1, 7)`` or ``(7,)``; or a tuple that begins with them, as networks with a
    value do; or the column, an int or a tensor of one integer. Of equal logits the leftmost is
    played; logits of full columns do not count. It is called without gradients, and a
    module in evaluation mode.

    Args:
        function: ``FILE.py:NAME``; a class is built, without arguments.
        device: where the tensor is, and the module is brought.

    Raises:
        InvalidValue: there is nothing that can be called, or no such device.
        MissingExtra: PyTorch is not installed.
    """

    settings_are_all = True  # another process loads the file again

    def __init__(self, function: str, device: str = "cpu") -> None:
        try:
            torch = importlib.import_module("torch")
        except ImportError:
            raise MissingExtra("torch: not installed: pip install 'c4env[torch]'") from None
        self._torch = torch
        try:
            self._device = torch.device(device)
            torch.empty(1, device=self._device)
        except (RuntimeError, AssertionError) as error:
            raise InvalidValue(f"torch: device={device!r}: {error}") from None
        found = import_callable(function, InvalidValue, f"torch: {function!r}", "FILE.py:NAME")
        folder = os.path.dirname(os.path.abspath(function))
        if folder not in sys.path:  # what it imports while it plays is looked for there too
            sys.path.append(folder)
        if isinstance(found, type):
            found = found()
        if not callable(found):
            raise InvalidValue(f"torch: {function!r} is {found!r}: expected a function or module")
        if isinstance(found, torch.nn.Module):
            found = found.to(self._device).eval()
        self._function = found
        self._title = function

    def reset(self, seed: int | np.random.SeedSequence | None = None) -> None:
        """Begin a new game; a function that draws from PyTorch's generator draws by the seed."""
        number = as_number(seed)
        if number is not None:
            self._torch.manual_seed(number)

    def choose(self, position: Position) -> int:
        """The function's column.

        Raises:
            EngineFault: it answers no logits of seven columns, nan, or no legal column.
        """
        require_move(position)
        planes = observe(position)["observation"].astype(np.float32).transpose(2, 0, 1)
        batch = self._torch.from_numpy(planes[None].copy()).to(self._device)
        with self._torch.inference_mode():
            answer = self._function(batch)
        return self._column(position, answer)

    def _column(self, position: Position, answer: Any) -> int:
        if isinstance(answer, tuple | list) and answer and self._torch.is_tensor(answer[0]):
            answer = answer[0]
        legal = list(position.legal_columns())
        if self._torch.is_tensor(answer) and answer.numel() == COLUMNS:
            logits = answer.detach().cpu().to(self._torch.float64).numpy().reshape(COLUMNS)[legal]
            if np.isnan(logits).any():
                raise self._wrong(answer, "logits that are numbers")
            return legal[int(logits.argmax())]
        try:
            column = parse_column(answer)
        except (InvalidAction, RuntimeError, TypeError, ValueError):
            raise self._wrong(answer, "logits of the seven columns, or a column 0..6") from None
        if column not in legal:
            raise self._wrong(answer, f"one of the legal columns {tuple(legal)}")
        return column

    def _wrong(self, answer: Any, expected: str) -> EngineFault:
        shape = getattr(answer, "shape", None)
        shown = f"a tensor of shape {tuple(shape)}" if shape is not None else repr(answer)[:80]
        return EngineFault(f"{self._title} answered {shown}: expected {expected}")
