"""The network as PyTorch trains it: the same sums, rounded the same way.

Parameters are real numbers; what goes forward is their rounded values, so that the exported
network answers exactly as the trained one, while gradients pass the rounding unchanged.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor, nn

from agents.learned.features import FEATURES
from agents.learned.network import HIGHEST, OUTPUTS, UNIT, WEIGHT, Weights
from c4env.bitboard import COLUMNS

BIAS: Final = UNIT * WEIGHT  # a bias of 1, after the first layer


class Rounded(torch.autograd.Function):
    """The nearest multiple of ``1 / scale`` between two bounds.

    The gradient is that of the identity between the bounds, and 0 beyond.
    """

    @staticmethod
    def forward(ctx: Any, real: Tensor, scale: int, low: float, high: float) -> Tensor:
        """Any shape."""
        ctx.save_for_backward((real >= low) & (real <= high))
        return (real * scale).round_().div_(scale).clamp_(low, high)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        """Of ``real`` alone."""
        return gradient * ctx.saved_tensors[0], None, None, None


def activation(real: Tensor) -> Tensor:
    """See ``agents.learned.network.activation``."""
    return Rounded.apply(real, UNIT, 0.0, HIGHEST / UNIT)


class Layer(nn.Module):
    """A matrix and a bias, whose rounded values are used."""

    def __init__(self, inputs: int, outputs: int, bias_scale: int, spread: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(inputs, outputs) * spread)
        self.bias = nn.Parameter(torch.zeros(outputs))
        self.bias_scale = bias_scale

    def forward(self, units: Tensor) -> Tensor:
        """Units ``[N, inputs]`` to ``[N, outputs]``."""
        limit = HIGHEST / WEIGHT
        weight = Rounded.apply(self.weight, WEIGHT, -limit, limit)
        bias = Rounded.apply(self.bias, self.bias_scale, -math.inf, math.inf)
        return torch.addmm(bias, units, weight)

    def export(self, name: str) -> Weights:
        """The rounded parameters as whole numbers."""
        weight = torch.round(self.weight.detach() * WEIGHT).clamp(-HIGHEST, HIGHEST)
        bias = torch.round(self.bias.detach() * self.bias_scale)
        return {name: weight.numpy().astype(np.int8), f"{name}.bias": bias.numpy().astype(np.int32)}


class Model(nn.Module):
    """The layers of :class:`agents.learned.network.Network`.

    Args:
        width: units of the first layer.
        inner: units inside a block.
        blocks: how many.
    """

    def __init__(self, width: int, inner: int, blocks: int) -> None:
        super().__init__()
        self.first = nn.ModuleList(Layer(FEATURES, width, WEIGHT, 0.1) for _ in range(2))
        self.inward = nn.ModuleList(
            Layer(width, inner, BIAS, (2 / width) ** 0.5) for _ in range(blocks)
        )
        self.outward = nn.ModuleList(
            Layer(inner, width, BIAS, 0.5 * (2 / inner) ** 0.5) for _ in range(blocks)
        )
        self.head = Layer(width, OUTPUTS, BIAS, width**-0.5)

    def forward(self, told: Tensor, first: int) -> tuple[Tensor, Tensor]:
        """Logits ``[N, 7]`` and raw values ``[N]`` of features ``[N, 624]``.

        In the ``first`` rows player 0 is to move, in the others player 1.
        """
        parts = [
            layer(part)
            for layer, part in zip(self.first, told.split([first, len(told) - first]), strict=True)
        ]
        units = activation(torch.cat(parts))
        for inward, outward in zip(self.inward, self.outward, strict=True):
            inner = activation(inward(units))
            units = activation(outward(inner) + units)
        out = self.head(units)
        return out[:, :COLUMNS], out[:, COLUMNS]

    def export(self) -> Weights:
        """The weights of the :class:`~agents.learned.network.Network` that answers alike."""
        weights: dict[str, Any] = {}
        for player, layer in enumerate(self.first):
            weights |= layer.export(f"first.{player}")
        for k, (inward, outward) in enumerate(zip(self.inward, self.outward, strict=True)):
            weights |= inward.export(f"block.{k}.in")
            weights |= outward.export(f"block.{k}.out")
        return weights | self.head.export("head")
