"""The network as PyTorch trains it.

Parameters are real numbers. Once ``rounded`` is set, what goes forward is their rounded values and
those of the activations, so that the exported network answers exactly as the trained one, while
gradients pass the rounding unchanged.
"""

from typing import Any, Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from c4env.agents.learned import GREATEST, OUTCOMES, PLANES, Weights
from c4env.bitboard import CELLS, COLUMNS, ROWS

UNIT: Final = 32  # the whole number that stands for an activation of 1
CEILING: Final = GREATEST / UNIT  # the greatest activation


class Rounded(torch.autograd.Function):
    """The nearest multiple of ``1 / scale``, which may be a tensor; the gradient is unchanged."""

    @staticmethod
    def forward(ctx: Any, real: Tensor, scale: Any) -> Tensor:
        """Any shape."""
        return (real * scale).round_().div_(scale)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        """Of ``real`` alone."""
        return gradient, None


class Layer(nn.Module):
    """A matrix or a filter, ``[out, in, ...]``, and a bias.

    Args:
        shape: of the weights.
        bias: the shape of the bias, which ends with the number of outputs.
        gain: the spread of the outputs at first, for inputs that are 0 as often as not.
        whole: the number that stands for an input of 1.
    """

    def __init__(
        self, shape: tuple[int, ...], bias: tuple[int, ...], gain: float, whole: int = UNIT
    ) -> None:
        super().__init__()
        inputs = float(np.prod(shape[1:]))
        spread = gain * (2 / inputs) ** 0.5
        self.weight = nn.Parameter(torch.randn(shape).flatten(1) * spread)  # as Muon wants it
        self.bias = nn.Parameter(torch.zeros(bias))
        self.shape = shape
        self.whole = whole

    @property
    def steps(self) -> Tensor:
        """Of each output, the power of two by which its weights become whole numbers."""
        most = self.weight.detach().abs().amax(1).clamp(min=2.0**-10)
        return torch.exp2(torch.floor(torch.log2(GREATEST / most)))

    def values(self, rounded: bool) -> tuple[Tensor, Tensor]:
        """The weights, ``[out, in, ...]``, and the bias that go forward."""
        weight, bias = self.weight, self.bias
        if rounded:
            steps = self.steps
            weight = Rounded.apply(weight, steps[:, None])
            bias = Rounded.apply(bias, steps * self.whole)
        return weight.view(self.shape), bias

    def export(self, name: str, whole: int = UNIT) -> Weights:
        """The rounded parameters as whole numbers.

        Args:
            name: of the layer.
            whole: the number that stands for an output of 1.
        """
        steps = self.steps
        weight = torch.round(self.weight.detach() * steps[:, None])
        bias = torch.round(self.bias.detach() * steps * self.whole)
        outputs, inputs = self.shape[:2]  # the matrix: by cell, then by input; output last
        matrix = weight.view(outputs, inputs, -1).permute(2, 1, 0).reshape(-1, outputs)
        return {
            name: matrix.numpy().astype(np.int8),
            f"{name}.bias": bias.numpy().astype(np.int32),
            f"{name}.scale": (whole / (steps * self.whole)).numpy().astype(np.float32),
        }


class Model(nn.Module):
    """The layers of :class:`c4env.agents.learned.IntegerNetwork`.

    Args:
        channels: of each cell.
        blocks: of two layers each.
        squeezed: channels of each cell that the dense layer sees.
        units: of the dense layer.
    """

    def __init__(self, channels: int, blocks: int, squeezed: int, units: int) -> None:
        super().__init__()
        window = (channels, channels, 3, 3)
        self.first = Layer((channels, PLANES, 3, 3), (2, ROWS, COLUMNS, channels), 1.0, 1)
        self.inward = nn.ModuleList(Layer(window, (channels,), 1.0) for _ in range(blocks))
        self.outward = nn.ModuleList(
            Layer(window, (channels,), 0.5 / blocks**0.5) for _ in range(blocks)
        )
        self.squeeze = Layer((squeezed, channels), (squeezed,), 1.0)
        self.dense = Layer((units, CELLS * squeezed), (units,), 1.0)
        self.head = Layer((COLUMNS + OUTCOMES, units), (COLUMNS + OUTCOMES,), 0.3)
        self.column = Layer((1, channels), (1,), 0.1)
        self.rounded = False

    def hidden(self) -> list[nn.Parameter]:
        """The matrices between the first layer and the last ones."""
        layers = (*self.inward, *self.outward, self.squeeze, self.dense)
        return [layer.weight for layer in layers]

    def forward(self, planes: Tensor, to_move: Tensor) -> Tensor:
        """Outputs ``[N, 10]``, as of :meth:`IntegerNetwork.one_way`.

        Args:
            planes: ``[N, 5, 6, 7]`` zeros and ones, channels last in memory.
            to_move: ``[N]`` 0 or 1.
        """
        weight, table = self.first.values(self.rounded)
        bias = table.permute(0, 3, 1, 2).to(planes.dtype)[to_move]
        units = self._activation(
            functional.conv2d(planes, weight.to(planes.dtype), None, 1, 1) + bias
        )
        for inward, outward in zip(self.inward, self.outward, strict=True):
            inner = self._activation(self._window(inward, units))
            change = self._window(outward, inner)
            if self.rounded:
                change = Rounded.apply(change, UNIT)
            units = self._activation(change + units)
        cells = units.permute(0, 2, 3, 1)
        squeezed = self._activation(self._dense(self.squeeze, cells))
        dense = self._activation(self._dense(self.dense, squeezed.flatten(1)))
        out = self._dense(self.head, dense).float()
        columns = self._dense(self.column, cells.sum(1)).float()[:, :, 0]
        return out + functional.pad(columns, (0, OUTCOMES))

    def _activation(self, real: Tensor) -> Tensor:
        if self.rounded:
            real = Rounded.apply(real, UNIT)
        return functional.hardtanh(real, 0.0, CEILING)

    def _window(self, layer: Layer, units: Tensor) -> Tensor:
        weight, bias = layer.values(self.rounded)
        return functional.conv2d(units, weight.to(units.dtype), bias.to(units.dtype), 1, 1)

    def _dense(self, layer: Layer, units: Tensor) -> Tensor:
        weight, bias = layer.values(self.rounded)
        return functional.linear(units, weight.to(units.dtype), bias.to(units.dtype))

    def export(self) -> Weights:
        """The weights of the :class:`~c4env.agents.learned.IntegerNetwork` that answers alike."""
        weights = self.first.export("first")
        for k, (inward, outward) in enumerate(zip(self.inward, self.outward, strict=True)):
            weights |= inward.export(f"block.{k}.in") | outward.export(f"block.{k}.out")
        weights |= self.squeeze.export("squeeze") | self.dense.export("dense")
        return weights | self.head.export("head", 1) | self.column.export("column", 1)
