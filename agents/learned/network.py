"""The network, evaluated with NumPy alone, to the last bit the same on every machine.

Its weights and activations are whole numbers small enough for every sum to be exact in float32,
whatever the order of the summands. A board and its mirror image are both evaluated and averaged,
so mirrored positions get mirrored answers.

The layers: features to units by one of two matrices, according to which player
is to move; residual blocks; seven logits and a value.
"""

from __future__ import annotations

import functools
import os
import zipfile
from contextlib import nullcontext
from importlib import resources
from typing import IO, Any, Final

import numpy as np
from numpy.typing import NDArray

from agents.errors import UnreadableWeights
from agents.learned.features import FEATURES, Planes, describe, player_to_move
from c4env.bitboard import COLUMNS
from c4env.files import write_whole

WEIGHT: Final = 128  # a weight of 1, and the greatest is 127
UNIT: Final = 32  # an activation of 1; the greatest is 127, the least 0
HIGHEST: Final = 127
OUTPUTS: Final = COLUMNS + 1

# Powers of two, so that nothing is lost; float32, so that nothing is widened.
_FIRST: Final = np.float32(UNIT / WEIGHT)
_INNER: Final = np.float32(1 / WEIGHT)
_HALF: Final = np.float32(1 / (2 * UNIT * WEIGHT))
_NEVER: Final = np.float32(-np.inf)

Weights = dict[str, NDArray[Any]]


class Network:
    """Logits and values of positions.

    Attributes:
        weights: int8 matrices ``[in, out]`` and int32 biases ``[out]`` by name: ``first.0`` and
            ``first.1`` by player to move, ``block.K.in``, ``block.K.out``, ``head``;
            each with its ``.bias``.
        deterministic: a position gets the same answer always.
    """

    deterministic = True

    def __init__(self, weights: Weights) -> None:
        """A network of these weights; see the class.

        Raises:
            UnreadableWeights: one is missing, or of another shape.
        """
        self.weights = weights
        self.blocks = sum(name.endswith(".in") for name in weights)
        self._floats = {name: array.astype(np.float32) for name, array in weights.items()}
        for name, (inputs, outputs) in self._shapes().items():
            for part, shape in ((name, (inputs, outputs)), (f"{name}.bias", (outputs,))):
                array = weights.get(part)
                if array is None or array.shape != shape or array.dtype.kind != "i":
                    found = "none" if array is None else f"{array.dtype} {array.shape}"
                    raise UnreadableWeights(f"weights {part!r}: {found}, expected integers {shape}")

    def _shapes(self) -> dict[str, tuple[int, int]]:
        """The shape of every matrix, inferred from the first and the number of blocks."""
        width = _columns(self.weights, "first.0")
        shapes = {"first.0": (FEATURES, width), "first.1": (FEATURES, width)}
        for k in range(self.blocks):
            inner = _columns(self.weights, f"block.{k}.in")
            shapes |= {f"block.{k}.in": (width, inner), f"block.{k}.out": (inner, width)}
        return shapes | {"head": (width, OUTPUTS)}

    @classmethod
    def load(cls, file: str | os.PathLike[str] | IO[bytes]) -> Network:
        """The network in an ``.npz`` file.

        Raises:
            UnreadableWeights: no such file, or no network in it.
        """
        try:
            opened = nullcontext(file) if hasattr(file, "read") else open(file, "rb")  # noqa: SIM115  # closed below
            with opened as stream, np.load(stream, allow_pickle=False) as data:
                return cls(dict(data))
        except (OSError, UnreadableWeights) as error:
            raise UnreadableWeights(f"weights {file}: {error}") from None
        except (ValueError, TypeError, EOFError, zipfile.BadZipFile) as error:
            # What NumPy says of it advises to allow pickled code.
            raise UnreadableWeights(
                f"weights {file}: not weights of agents.learned.train"
            ) from error

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the weights to a file, whole or not at all."""
        write_whole(
            path, lambda file: np.savez_compressed(file, allow_pickle=False, **self.weights)
        )

    def __call__(
        self, observations: Planes, masks: NDArray[Any]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Policy and value of N positions.

        Args:
            observations: ``[N, 6, 7, 2]`` zeros and ones of any dtype; plane 0 holds the discs of
                the side to move.
            masks: ``[N, 7]``, not 0 where a column is legal.

        Returns:
            Logits float32 ``[N, 7]``, ``-inf`` where a column is not legal, and values float32
            ``[N]`` between -1 and 1, the outcome expected by the side to move.
        """
        observations = np.asarray(observations)
        out = self._one_way(observations)
        back = self._one_way(observations[:, :, ::-1])
        logits = _HALF * (out[:, :COLUMNS] + back[:, COLUMNS - 1 :: -1])
        raw = _HALF * (out[:, COLUMNS] + back[:, COLUMNS])
        return np.where(np.asarray(masks) != 0, logits, _NEVER), squash(raw)

    def _one_way(self, planes: Planes) -> NDArray[np.float32]:
        """The outputs ``[N, 8]`` in units of ``1 / (UNIT * WEIGHT)``: logits, then the value."""
        told = describe(planes)
        to_move = player_to_move(planes)
        first = np.empty((len(told), self._floats["first.0"].shape[1]), np.float32)
        for player in (0, 1):
            rows = to_move == player
            if rows.any():
                first[rows] = self._layer(f"first.{player}", told[rows])
        units = activation(first * _FIRST)
        for k in range(self.blocks):
            inner = activation(self._layer(f"block.{k}.in", units) * _INNER)
            units = activation(self._layer(f"block.{k}.out", inner) * _INNER + units)
        return self._layer("head", units)

    def _layer(self, name: str, units: NDArray[np.float32]) -> NDArray[np.float32]:
        total: NDArray[np.float32] = units @ self._floats[name]
        return total + self._floats[f"{name}.bias"]


def _columns(weights: Weights, name: str) -> int:
    return weights[name].shape[1] if name in weights and weights[name].ndim == 2 else 0


def activation(units: NDArray[np.float32]) -> NDArray[np.float32]:
    """Whole numbers between 0 and ``HIGHEST``."""
    whole: NDArray[np.float32] = np.rint(units).clip(0, HIGHEST)
    return whole


def squash(raw: NDArray[np.float32]) -> NDArray[np.float32]:
    """A value between -1 and 1, by operations that round alike on every machine."""
    value: NDArray[np.float32] = raw / np.sqrt(1 + raw * raw)
    return value


@functools.cache
def shipped() -> Network:
    """The network that comes with this package."""
    with (resources.files("agents.learned") / "weights.npz").open("rb") as file:
        return Network.load(file)
