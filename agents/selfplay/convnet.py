"""The convolutional network for policy and value that self-play trains, and its optimiser.

    Evaluator.load("DIR/model.pt")(planes, masks)  # logits [N, 7], values [N]

The input has six planes, from the view of the side to move: its discs, the other side's discs, its
winning empty cells, the other side's winning empty cells, the playable cells, and a plane of ones
if the side to move began the game (else zeros).

The optimiser uses Muon (Jordan and others, 2024) for the hidden matrices, and AdamW for the rest.
Muon makes the step of a matrix about equally long in every direction. docs/explanation/self-play.md
compares this optimiser with only AdamW.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from c4env.agents.learned import features_of
from c4env.agents.selfplay import MODEL
from c4env.arrays import Bools, Int8s, Int64s
from c4env.envs.batch import boards_from
from c4env.errors import InvalidOption
from c4env.files import write_whole
from c4env.lazy import from_extra
from c4env.observation import planes_of
from c4env.rules import CELLS, COLUMNS, ROWS
from c4env.system import one_thread

with from_extra("torch", "a network of self-play needs PyTorch"):
    import torch
    from torch import Tensor, nn
    from torch.nn import functional
    from torch.optim import AdamW, Muon, Optimizer

INPUT_PLANES: Final = 6
FEATURES: Final = [0, 1, 3, 4, 2]  # of ``features_of``, in the order of the input's planes
RATES: Final = (0.02, 1.5e-3)  # the highest learning rates, of Muon and AdamW


def tensor_of(boards: Int64s, turned: Bools | None = None) -> Tensor:
    """Return the network's input, float32 ``[N, 6, 6, 7]`` with the plane first.

    ``boards`` ``[N, 2]`` has the side to move first; boards where ``turned`` ``[N]`` is True are
    mirrored.
    """
    planes = np.empty((len(boards), ROWS, COLUMNS, INPUT_PLANES), np.float32)
    planes[..., :-1] = planes_of(features_of(*np.ascontiguousarray(boards.T))[:, FEATURES])
    discs = np.bitwise_count(boards).sum(axis=1)
    planes[..., -1] = (discs % 2 == 0)[:, None, None]
    if turned is not None:
        planes[turned] = planes[turned, :, ::-1]
    return torch.from_numpy(planes).permute(0, 3, 1, 2)  # the memory order that convolutions prefer


class WindowLayer(nn.Module):
    """A 3 by 3 convolution with filters as a matrix ``[out, in * 9]``, as Muon needs."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, inputs * 9))
        self.bias = nn.Parameter(torch.zeros(outputs))
        nn.init.kaiming_normal_(self.weight, nonlinearity="relu")

    def forward(self, planes: Tensor) -> Tensor:
        """Convolve ``[N, in, 6, 7]`` to ``[N, out, 6, 7]``."""
        filters = self.weight.view(len(self.weight), -1, 3, 3)
        return functional.conv2d(planes, filters, self.bias, padding=1)


class Block(nn.Module):
    """A residual block of two convolutions. Before training, the block adds 0 to its input."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.inward, self.outward = WindowLayer(channels, channels), WindowLayer(channels, channels)
        nn.init.zeros_(self.outward.weight)

    def forward(self, planes: Tensor) -> Tensor:
        """Map ``[N, channels, 6, 7]`` to the same shape."""
        return torch.relu(planes + self.outward(torch.relu(self.inward(planes))))


class SelfPlayNetwork(nn.Module):
    """A network of a convolution, residual blocks, two dense layers, and two heads.

    The heads give policy and value. The logit of each column also includes a weighted sum of
    that column's channels.
    """

    def __init__(self, channels: int = 32, units: int = 256, blocks: int = 0) -> None:
        super().__init__()
        self.first = WindowLayer(INPUT_PLANES, channels)
        self.blocks = nn.ModuleList()
        self.dense = nn.ModuleList([nn.Linear(channels * CELLS, units), nn.Linear(units, units)])
        self.column = nn.Linear(channels * ROWS, 1)
        self.policy = nn.Linear(units, COLUMNS)
        self.value = nn.Linear(units, 1)
        for layer in self.dense:
            nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
            nn.init.zeros_(layer.bias)
        self.grow(blocks)

    def grow(self, blocks: int) -> None:
        """Add residual blocks up to a total of ``blocks``; new blocks do not change the output."""
        for _ in range(blocks - len(self.blocks)):
            self.blocks.append(Block(len(self.first.bias)).to(self.first.bias))

    @property
    def shape(self) -> list[int]:
        """The constructor's arguments: channels, units, blocks."""
        return [len(self.first.bias), self.policy.in_features, len(self.blocks)]

    def hidden(self) -> list[nn.Parameter]:
        """The weight matrices between the first layer and the output layers."""
        windows = [window for block in self.blocks for window in (block.inward, block.outward)]
        return [layer.weight for layer in (*windows, *self.dense)]

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits ``[N, 7]`` of the columns, and logits ``[N]`` of the expected score."""
        planes = torch.relu(self.first(planes))
        for block in self.blocks:
            planes = block(planes)
        units = planes.permute(0, 2, 3, 1).flatten(1)  # no copy, thanks to the memory order
        for layer in self.dense:
            units = torch.relu(layer(units))
        columns = planes.permute(0, 3, 2, 1).flatten(2)  # [N, 7, 6 * channels]
        return self.policy(units) + self.column(columns).squeeze(2), self.value(units).squeeze(1)


class Evaluator:
    """A function that evaluates many positions by a network, without gradients."""

    deterministic = True

    def __init__(self, network: SelfPlayNetwork) -> None:
        self.network = network.eval()

    def evaluate(self, boards: Int64s) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return logits ``[M, 7]`` and values ``[M]``, from -1 to 1, of boards ``[M, 2]``."""
        with one_thread(), torch.inference_mode():
            logits, raw = self.network(tensor_of(boards).to(self.network.first.bias))
            return logits.float().cpu().numpy(), torch.tanh(raw.float() / 2).cpu().numpy()

    def __call__(self, planes: Int8s, masks: Int8s | None = None) -> tuple[Any, Any]:
        """Return logits and values of observations ``[M, 6, 7, 2]``, as agent ``puct`` needs."""
        return self.evaluate(boards_from(planes))

    def save(self, path: Path) -> None:
        """Write the network to a file atomically."""
        content = {"shape": self.network.shape, "weights": self.network.state_dict()}
        write_whole(path, lambda file: torch.save(content, file))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Load a network from a file, or the latest network from a training's folder.

        Raises:
            InvalidOption: the file or folder has no network.
        """
        file = Path(path)
        file = file / MODEL if file.is_dir() else file
        wrong = (
            f"selfplay:{path}: expected a folder of c4env.agents.selfplay.train, or its model.pt"
        )
        try:
            stored = torch.load(io.BytesIO(file.read_bytes()), "cpu", weights_only=True)
            network = SelfPlayNetwork(*stored["shape"])
            network.load_state_dict(stored["weights"])
        except OSError as error:
            raise InvalidOption(f"{wrong}: {file}: {error.strerror or error}") from None
        except Exception as error:  # the file holds something else
            reason = " ".join(str(error).split())[:100]
            raise InvalidOption(f"{wrong}: {file}: {type(error).__name__}: {reason}") from None
        return cls(network)


class Optimiser:
    """Fits a network by Muon and AdamW; call :meth:`refresh` after the network has grown.

    The network needs a method ``hidden``, as :class:`SelfPlayNetwork` has.
    """

    def __init__(self, network: Any) -> None:
        self.network = network
        hidden, others = self._split()
        self.parts: list[Optimizer] = [
            Muon(hidden, weight_decay=0.1),
            AdamW(others, weight_decay=1e-2, fused=True),
        ]

    def _split(self) -> tuple[list[nn.Parameter], list[nn.Parameter]]:
        hidden = self.network.hidden()
        hidden_ids = {id(matrix) for matrix in hidden}
        return hidden, [p for p in self.network.parameters() if id(p) not in hidden_ids]

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
