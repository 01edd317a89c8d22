"""The shipped network in NumPy, with bit-identical results on every machine.

Weights and activations are small whole numbers, so every sum is exact in float32, in any order. One
multiplication and one rounding follow each sum. The network averages its outputs for the board and
for the mirror image, so mirrored positions get mirrored results.

The layers: 3 x 3 convolution of the planes, with a bias for each cell and player to move; residual
blocks of two 3 x 3 convolutions; a dense layer over all cells; and a head of seven column logits
and three outcome logits. A column's logit also gets a weighted sum of the column's channels.
"""

from __future__ import annotations

import functools
import os
import zipfile
from importlib import resources
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from c4env.agents.network.features import PLANES, planes_of
from c4env.arrays import Int64s
from c4env.bitboard import CELLS, COLUMNS, ROWS, mirror_all
from c4env.envs.vectorized.batch import boards_from
from c4env.errors import InvalidOption
from c4env.files import write_whole

HIGHEST: Final = 127  # the greatest weight and the greatest activation; the least is 0
OUTCOMES: Final = 3  # win, draw, loss
CHUNK: Final = 8  # boards at a time; more boards do not fit into the processor's cache
WINDOW: Final = 9  # inputs of a convolution for each cell: itself and its neighbours

_NEVER: Final = np.float32(-np.inf)

Floats = NDArray[np.float32]
Weights = dict[str, NDArray[Any]]


class Network:
    """A function from positions to logits and values.

    Attributes:
        weights: arrays by name. Each layer (``first``, ``block.K.in``, ``block.K.out``,
            ``squeeze``, ``dense``, ``head`` and ``column``) has an int8 matrix ``[in, out]``, int32
            biases ``NAME.bias`` ``[out]``, and float32 factors ``NAME.scale`` ``[out]`` that turn
            the layer's sums into activations or outputs. Only ``first.bias`` is
            ``[2, 6, 7, out]``, with the player to move as the first index.
        deterministic: always True; a position always gets the same result.
    """

    deterministic = True

    def __init__(self, weights: Weights) -> None:
        """Make a network; InvalidOption if an array is missing or has a wrong shape or type."""
        self.weights = weights
        self.blocks = sum(name.endswith(".in") for name in weights)
        self._floats = {name: array.astype(np.float32) for name, array in weights.items()}
        for name, (inputs, outputs) in self.shapes().items():
            bias = (2, ROWS, COLUMNS, outputs) if name == "first" else (outputs,)
            for part, shape, kind in (
                (name, (inputs, outputs), "i"),
                (f"{name}.bias", bias, "i"),
                (f"{name}.scale", (outputs,), "f"),
            ):
                array = weights.get(part)
                if array is None or array.shape != shape or array.dtype.kind != kind:
                    found = "none" if array is None else f"{array.dtype} {array.shape}"
                    wanted = "integers" if kind == "i" else "floats"
                    raise InvalidOption(f"weights {part!r}: {found}, expected {wanted} {shape}")

    def shapes(self) -> dict[str, tuple[int, int]]:
        """Return the shapes of all weight matrices, derived from three matrices and the blocks."""
        channels, squeezed, units = (
            self.weights[name].shape[-1] if name in self.weights else 0
            for name in ("first", "squeeze", "dense")
        )
        shapes = {"first": (WINDOW * PLANES, channels)}
        for k in range(self.blocks):
            shapes |= {f"block.{k}.{way}": (WINDOW * channels, channels) for way in ("in", "out")}
        shapes |= {"squeeze": (channels, squeezed), "dense": (CELLS * squeezed, units)}
        return shapes | {"head": (units, COLUMNS + OUTCOMES), "column": (channels, 1)}

    @classmethod
    def load(cls, file: str | os.PathLike[str]) -> Network:
        """Load the network in an ``.npz`` file; InvalidOption if the file has none."""
        try:
            with open(file, "rb") as stream, np.load(stream, allow_pickle=False) as data:
                return cls(dict(data))
        except (OSError, InvalidOption) as error:
            said = getattr(error, "strerror", None) or error
            raise InvalidOption(f"weights {file}: {said}") from None
        except (ValueError, TypeError, EOFError, zipfile.BadZipFile) as error:
            # Do not quote NumPy's message, which suggests allowing pickled code.
            said = "expected an .npz file of a network's weights"
            raise InvalidOption(f"weights {file}: {said}") from error

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the weights to a file atomically."""
        write_whole(
            path, lambda file: np.savez_compressed(file, allow_pickle=False, **self.weights)
        )

    def __call__(self, observations: NDArray[Any], masks: NDArray[Any]) -> tuple[Floats, Floats]:
        """Return the policy logits and the values of N positions.

        Args:
            observations: ``[N, 6, 7, 2]``, plane 0 the discs of the side to move.
            masks: ``[N, 7]``, not 0 for legal columns.

        Returns:
            logits, float32 ``[N, 7]``, ``-inf`` for illegal columns; and values, float32 ``[N]``
            between -1 and 1, the expected results for the side to move.
        """
        boards = boards_from(observations)
        logits, values = self.evaluate(boards[:, 0].copy(), boards[:, 1].copy())
        return np.where(np.asarray(masks) != 0, logits, _NEVER), values

    def evaluate(self, mine: Int64s, theirs: Int64s) -> tuple[Floats, Floats]:
        """Return logits and values of bitboards ``[N]``; logits of full columns are meaningless."""
        out = np.empty((len(mine), COLUMNS + OUTCOMES), np.float32)
        for start in range(0, len(mine), CHUNK):
            own, other = mine[start : start + CHUNK], theirs[start : start + CHUNK]
            both = self.one_way(*(np.append(side, mirror_all(side)) for side in (own, other)))
            here, back = both[: len(own)], both[len(own) :]
            out[start : start + CHUNK, :COLUMNS] = here[:, :COLUMNS] + back[:, COLUMNS - 1 :: -1]
            out[start : start + CHUNK, COLUMNS:] = here[:, COLUMNS:] + back[:, COLUMNS:]
        out *= np.float32(0.5)
        return out[:, :COLUMNS], expected(out[:, COLUMNS:])

    def one_way(self, mine: Int64s, theirs: Int64s) -> Floats:
        """Return logits ``[N, 10]`` without mirroring: seven columns, then win, draw and loss."""
        to_move = np.bitwise_count(mine | theirs) & 1
        units = around(planes_of(mine, theirs).astype(np.float32)) @ self._floats["first"]
        units = units.reshape(len(mine), ROWS, COLUMNS, -1) + self._floats["first.bias"][to_move]
        units = activation(units * self._floats["first.scale"])
        for k in range(self.blocks):
            inner = activation(self._layer(f"block.{k}.in", around(units)))
            change = self._layer(f"block.{k}.out", around(inner.reshape(units.shape)))
            units = activation(np.rint(change).reshape(units.shape) + units)
        squeezed = activation(self._layer("squeeze", units.reshape(-1, units.shape[-1])))
        dense = activation(self._layer("dense", squeezed.reshape(len(mine), -1)))
        out = self._layer("head", dense)
        out[:, :COLUMNS] += self._layer("column", units.sum(axis=1))[:, :, 0]
        return out

    def _layer(self, name: str, units: Floats) -> Floats:
        total: Floats = units @ self._floats[name]
        return (total + self._floats[f"{name}.bias"]) * self._floats[f"{name}.scale"]


def around(units: Floats) -> Floats:
    """Gather each cell with its eight neighbours: ``[N * 42, 9 * C]`` from ``[N, 6, 7, C]``."""
    count, rows, columns, channels = units.shape
    padded = np.zeros((count, rows + 2, columns + 2, channels), np.float32)
    padded[:, 1:-1, 1:-1] = units
    a, b, c, d = padded.strides
    windows = np.lib.stride_tricks.as_strided(
        padded, (count, rows, columns, 3, 3, channels), (a, b, c, b, c, d), writeable=False
    )
    return windows.reshape(count * CELLS, WINDOW * channels)


def activation(units: Floats) -> Floats:
    """Round units and clip them to 0..``HIGHEST``."""
    whole: Floats = np.rint(units).clip(0, HIGHEST)
    return whole


def expected(outcomes: Floats) -> Floats:
    """Return values ``[N]``, from -1 to 1, for logits ``[N, 3]`` of win, draw and loss."""
    win, draw, loss = exponential(outcomes - outcomes.max(axis=1, keepdims=True)).T
    value: Floats = (win - loss) / (win + draw + loss)
    return value


def exponential(numbers: Floats) -> Floats:
    """Approximate the exponential of numbers <= 0, with the same rounding on every machine."""
    power: Floats = np.maximum(1 + numbers / np.float32(256), np.float32(0))
    for _ in range(8):
        power = power * power
    return power


@functools.cache
def shipped() -> Network:
    """Return the network that comes with this package."""
    with resources.as_file(resources.files("c4env.agents.network") / "weights.npz") as file:
        return Network.load(file)
