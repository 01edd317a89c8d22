"""The optimiser of networks: Muon for the hidden matrices, AdamW for the rest.

Muon (Jordan and others, 2024) makes the step of a matrix about equally long in every direction.
docs/explanation/self-play.md compares it with AdamW alone.
"""

from __future__ import annotations

from typing import Any, Final, Protocol

from torch import Tensor, nn
from torch.optim import AdamW, Muon, Optimizer

RATES: Final = (0.02, 1.5e-3)  # the highest learning rates, of Muon and AdamW


class Fitted(Protocol):
    """What :class:`Optimiser` needs of a network: its parameters and its hidden matrices."""

    def parameters(self) -> Any:
        """All parameters."""

    def hidden(self) -> list[nn.Parameter]:
        """Matrices ``[out, in]`` between the first layer and the last layers."""


class Optimiser:
    """Fits a network by Muon and AdamW; call :meth:`refresh` after the network has grown."""

    def __init__(self, network: Fitted) -> None:
        self.network = network
        hidden, others = self._split()
        self.parts: list[Optimizer] = [
            Muon(hidden, weight_decay=0.1),
            AdamW(others, weight_decay=1e-2, fused=True),
        ]

    def _split(self) -> tuple[list[nn.Parameter], list[nn.Parameter]]:
        hidden = self.network.hidden()
        own = {id(matrix) for matrix in hidden}
        return hidden, [other for other in self.network.parameters() if id(other) not in own]

    def refresh(self) -> None:
        """Include the new parameters of a network that has grown."""
        for part, parameters in zip(self.parts, self._split(), strict=True):
            part.param_groups[0]["params"] = parameters

    def step(self, loss: Tensor, share: float, longest: float | None = None) -> None:
        """Take one step that lowers a loss, at ``share`` of the highest learning rate.

        ``longest`` is the greatest norm of the gradient, which is clipped to it.
        """
        for part in self.parts:
            part.zero_grad()
        loss.backward()
        if longest is not None:
            nn.utils.clip_grad_norm_(self.network.parameters(), longest)
        for part, highest in zip(self.parts, RATES, strict=True):
            part.param_groups[0]["lr"] = highest * share
            part.step()

    def state_dict(self) -> list[dict[str, Any]]:
        """The states of both optimisers."""
        return [part.state_dict() for part in self.parts]

    def load_state_dict(self, states: list[dict[str, Any]]) -> None:
        """Restore states from :meth:`state_dict`; the parameters must have the same shapes."""
        for part, state in zip(self.parts, states, strict=True):
            part.load_state_dict(state)
