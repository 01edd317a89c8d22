"""How networks are fitted here: Muon for the matrices within, AdamW for the rest.

Muon (Jordan and others, 2024) turns a step of a matrix into one that is about as long in every
direction. With it networks erred in a tenth to a quarter fewer positions after the same minutes:
agents/network/README.md and docs/explanation/self-play.md give the figures.
"""

from __future__ import annotations

from typing import Any, Final, Protocol

from torch import Tensor, nn
from torch.optim import AdamW, Muon, Optimizer

RATES: Final = (0.02, 1.5e-3)  # of learning, the highest, by Muon and AdamW


class Fitted(Protocol):
    """A network that says which of its parameters are matrices within."""

    def parameters(self) -> Any:
        """All of them."""

    def hidden(self) -> list[nn.Parameter]:
        """Matrices ``[out, in]`` between the first layer and the last ones."""


class Optimiser:
    """Fits a network, by Muon and AdamW.

    Args:
        network: what is fitted; parameters that come to it later count from :meth:`refresh` on.
    """

    def __init__(self, network: Fitted) -> None:
        self.network = network
        hidden, others = self._split()
        self.parts: list[Optimizer] = [
            Muon(hidden, weight_decay=0.1),
            AdamW(others, weight_decay=1e-2, fused=True),
        ]

    def _split(self) -> tuple[list[nn.Parameter], list[nn.Parameter]]:
        """What Muon fits, and what AdamW does."""
        hidden = self.network.hidden()
        own = {id(matrix) for matrix in hidden}
        return hidden, [other for other in self.network.parameters() if id(other) not in own]

    def refresh(self) -> None:
        """Fit all parameters that the network has now, when it has grown."""
        for part, parameters in zip(self.parts, self._split(), strict=True):
            part.param_groups[0]["params"] = parameters

    def step(self, loss: Tensor, share: float, longest: float | None = None) -> None:
        """One step that lowers a loss.

        Args:
            loss: what the network's outputs come to.
            share: of the highest rates of learning.
            longest: the norm to which a longer gradient is shortened; None: to none.
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
        """Of both."""
        return [part.state_dict() for part in self.parts]

    def load_state_dict(self, states: list[dict[str, Any]]) -> None:
        """What :meth:`state_dict` gave, for the same shapes of parameters."""
        for part, state in zip(self.parts, states, strict=True):
            part.load_state_dict(state)
