"""``learned``: an agent that combines an exact search and a small network, and the network itself.

The shipped network runs in NumPy, with bit-identical results on every machine. Its input is five
bit planes for the side to move. Its layers are: a 3 x 3 convolution of the planes, with a bias for
each cell and player to move; residual blocks of two 3 x 3 convolutions; a dense layer over all
cells; and a head of seven column logits and three outcome logits. A weighted sum of a column's
channels is added to the column's logit.

Weights and activations are small whole numbers, so every sum is exact in float32, in any order. One
multiplication and one rounding follow each sum. The network averages its outputs for the board and
for the mirror image, so mirrored positions get mirrored results.
"""

from __future__ import annotations

import functools
import os
import zipfile
from importlib import resources
from typing import Annotated, Any, Final

import numpy as np
from numpy.typing import NDArray

from c4env.agents.base import SearchingAgent, SearchResult, require_move
from c4env.agents.making.options import Range, validate_args
from c4env.agents.solver import Solver
from c4env.arrays import Int64s
from c4env.bitboard import (
    BOARD,
    CELLS,
    CENTRE_FIRST,
    COLUMNS,
    ROWS,
    drop,
    mirror_all,
    playable,
    popcount,
    winning_cells,
    winning_moves,
)
from c4env.errors import InvalidOption
from c4env.files import write_whole
from c4env.geometry import require_standard
from c4env.jit import kernel
from c4env.observation import planes_of
from c4env.position import Position
from c4env.system import one_thread

require_standard(__name__)

PLANES: Final = 5
OUTCOMES: Final = 3  # win, draw, loss
GREATEST: Final = 127  # the greatest weight and the greatest activation; the least is 0
PATCH: Final = 9  # inputs of a convolution for each cell and channel: the cell and its neighbours
CHUNK: Final = 8  # boards at a time; more boards do not fit into the processor's cache

PRIOR: Final = 1.0  # greatest bonus for a column of high policy
CERTAIN: Final = 10.0  # added to the value of a certain win, subtracted for a loss

_NEVER: Final = np.float32(-np.inf)

Floats = NDArray[np.float32]
Weights = dict[str, NDArray[Any]]
Bounds = dict[int, tuple[int, int]]  # column: lower, upper bound of the result 1, 0, -1


@kernel("int64[:, ::1](int64[::1], int64[::1])")
def features_of(mine: Int64s, theirs: Int64s) -> Int64s:
    """Return what a network sees of bitboards ``[N]``, as bitboards ``[N, 5]``.

    The five bitboards are own discs, the other side's discs, playable cells, empty winning cells
    of the side to move, and empty winning cells of the other side.
    """
    features = np.empty((len(mine), PLANES), np.int64)
    for i in range(len(mine)):
        own, other = int(mine[i]), int(theirs[i])
        occupied = own | other
        features[i, 0], features[i, 1], features[i, 2] = own, other, playable(occupied)
        features[i, 3] = winning_cells(own) & ~occupied
        features[i, 4] = winning_cells(other) & ~occupied
    return features


class IntegerNetwork:
    """A function from positions to logits and values; all weights are whole numbers.

    Attributes:
        weights: arrays by name. A layer (``first``, ``block.K.in``, ``block.K.out``,
            ``squeeze``, ``dense``, ``head`` and ``column``) has an int8 matrix ``[in, out]``, int32
            biases ``NAME.bias`` ``[out]``, and float32 factors ``NAME.scale`` ``[out]`` that turn
            the layer's sums into activations or outputs. Only ``first.bias`` is
            ``[2, 6, 7, out]``, with the player to move as the first index.
        deterministic: always True.
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
                    actual = "none" if array is None else f"{array.dtype} {array.shape}"
                    numbers = "integers" if kind == "i" else "floats"
                    raise InvalidOption(f"weights {part!r}: {actual}, expected {numbers} {shape}")

    def shapes(self) -> dict[str, tuple[int, int]]:
        """Return the shapes of all weight matrices, derived from three matrices and the blocks."""
        channels, squeezed, units = (
            self.weights[name].shape[-1] if name in self.weights else 0
            for name in ("first", "squeeze", "dense")
        )
        shapes = {"first": (PATCH * PLANES, channels)}
        for k in range(self.blocks):
            shapes |= {f"block.{k}.{way}": (PATCH * channels, channels) for way in ("in", "out")}
        shapes |= {"squeeze": (channels, squeezed), "dense": (CELLS * squeezed, units)}
        return shapes | {"head": (units, COLUMNS + OUTCOMES), "column": (channels, 1)}

    @classmethod
    def load(cls, file: str | os.PathLike[str]) -> IntegerNetwork:
        """Load the network in an ``.npz`` file; InvalidOption if the file has none."""
        try:
            with open(file, "rb") as stream, np.load(stream, allow_pickle=False) as data:
                return cls(dict(data))
        except (OSError, InvalidOption) as error:
            reason = getattr(error, "strerror", None) or error
            raise InvalidOption(f"weights {file}: {reason}") from None
        except (ValueError, TypeError, EOFError, zipfile.BadZipFile) as error:
            # Do not quote NumPy's message, which suggests allowing pickled code.
            expected = "expected an .npz file of a network's weights"
            raise InvalidOption(f"weights {file}: {expected}") from error

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
        from c4env.envs.batch import boards_from  # its kernels take seconds to compile

        boards = boards_from(observations)
        logits, values = self.evaluate(boards[:, 0].copy(), boards[:, 1].copy())
        return np.where(np.asarray(masks) != 0, logits, _NEVER), values

    def evaluate(self, mine: Int64s, theirs: Int64s) -> tuple[Floats, Floats]:
        """Return logits and values of bitboards ``[N]``; logits of full columns are meaningless."""
        with one_thread():
            out = self._both_ways(mine, theirs)
        return out[:, :COLUMNS], expected_result(out[:, COLUMNS:])

    def _both_ways(self, mine: Int64s, theirs: Int64s) -> Floats:
        """Return logits ``[N, 10]``, the mean of the boards and their mirror images."""
        out = np.empty((len(mine), COLUMNS + OUTCOMES), np.float32)
        for start in range(0, len(mine), CHUNK):
            part = slice(start, start + CHUNK)
            sides = mine[part], theirs[part]
            both = self.one_way(*(np.append(side, mirror_all(side)) for side in sides))
            board, mirrored = np.split(both, 2)
            out[part, :COLUMNS] = board[:, :COLUMNS] + mirrored[:, COLUMNS - 1 :: -1]
            out[part, COLUMNS:] = board[:, COLUMNS:] + mirrored[:, COLUMNS:]
        out *= np.float32(0.5)
        return out

    def one_way(self, mine: Int64s, theirs: Int64s) -> Floats:
        """Return logits ``[N, 10]`` without mirroring: seven columns, then win, draw and loss."""
        to_move = np.bitwise_count(mine | theirs) & 1
        planes = planes_of(features_of(mine, theirs)).astype(np.float32)
        units = neighbourhoods(planes) @ self._floats["first"]
        units = units.reshape(len(mine), ROWS, COLUMNS, -1) + self._floats["first.bias"][to_move]
        units = activate(units * self._floats["first.scale"])
        for k in range(self.blocks):
            inner = activate(self._layer(f"block.{k}.in", neighbourhoods(units)))
            change = self._layer(f"block.{k}.out", neighbourhoods(inner.reshape(units.shape)))
            units = activate(np.rint(change).reshape(units.shape) + units)
        squeezed = activate(self._layer("squeeze", units.reshape(-1, units.shape[-1])))
        dense = activate(self._layer("dense", squeezed.reshape(len(mine), -1)))
        out = self._layer("head", dense)
        out[:, :COLUMNS] += self._layer("column", units.sum(axis=1))[:, :, 0]
        return out

    def _layer(self, name: str, units: Floats) -> Floats:
        total: Floats = units @ self._floats[name]
        return (total + self._floats[f"{name}.bias"]) * self._floats[f"{name}.scale"]


def neighbourhoods(units: Floats) -> Floats:
    """Gather each cell with its eight neighbours: ``[N * 42, 9 * C]`` from ``[N, 6, 7, C]``."""
    count, rows, columns, channels = units.shape
    padded = np.zeros((count, rows + 2, columns + 2, channels), np.float32)
    padded[:, 1:-1, 1:-1] = units
    a, b, c, d = padded.strides
    windows = np.lib.stride_tricks.as_strided(
        padded, (count, rows, columns, 3, 3, channels), (a, b, c, b, c, d), writeable=False
    )
    return windows.reshape(count * CELLS, PATCH * channels)


def activate(units: Floats) -> Floats:
    """Round units and clip them to 0..``GREATEST``."""
    whole: Floats = np.rint(units).clip(0, GREATEST)
    return whole


def expected_result(outcomes: Floats) -> Floats:
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
def shipped() -> IntegerNetwork:
    """Return the network that comes with this package."""
    with resources.as_file(resources.files("c4env.agents") / "network.npz") as file:
        return IntegerNetwork.load(file)


class Learned(SearchingAgent):
    """Plays by an exact search, or by a network where the search does not decide.

    The agent plays an immediate win, or else a forced block. Otherwise, at depth 0, it plays the
    column that the network's policy prefers. At a greater depth, an exact search of about ``nodes``
    nodes finds columns that certainly win, draw or lose. The value of each other column is the
    minimax of the network's values ``depth`` plies ahead. The agent leaves out columns that are
    certainly no better than another, and plays the column with the greatest sum of value and policy
    bonus. The bonus is at most ``PRIOR``.

    Args:
        depth: plies looked ahead, the agent's own move included; 0 plays the policy's column.
        weights: shipped, or an .npz file of weights.
        nodes: nodes of the exact search; 0 or ``depth`` 0 turns the search off.
    """

    _repeats = True

    @validate_args
    def __init__(
        self,
        depth: Annotated[int, Range(0, 4)] = 1,
        weights: str = "shipped",
        nodes: Annotated[int, Range(0, 10**9)] = 300_000,
    ) -> None:
        self.depth = depth
        self.limit = nodes
        self.network = shipped() if weights == "shipped" else IntegerNetwork.load(weights)
        self._solver = Solver(book=None, table_mb=1)

    def search(self, position: Position) -> SearchResult:
        """Return the column to play, its value, and the principal variation.

        The value is between -1 and 1, or beyond them if the look-ahead ends in a win or loss.
        """
        require_move(position)
        root = _Node(position.mine, position.theirs)
        logits, (root.value,) = self._evaluated([root])
        policy = logits.tolist()
        bounds = self._bounds(position, policy)
        leaves: list[_Node] = []
        root.expand(self.depth, leaves, bounds)
        if not root.children:  # no win or block, and depth 0
            legal = position.legal_columns()
            column = max((c for c in CENTRE_FIRST if c in legal), key=policy.__getitem__)
            self.nodes = 1
            return SearchResult(column, root.value, 1, 0, (column,))
        self.nodes = nodes = 1 + len(leaves) + (self._solver.nodes if bounds else 0)
        for leaf, value in zip(leaves, self._evaluated(leaves)[1] if leaves else (), strict=True):
            leaf.value = value
        shares = exponential(logits - max(policy[column] for column in root.children)).tolist()
        least = max((low for low, _ in bounds.values()), default=-2)  # the certain result
        values, scores = {}, {}
        for column, child in root.children.items():
            low, high = bounds.get(column, (-2, 2))
            values[column] = min(max(-child.back_up(), float(low)), float(high))
            if low == least or high > least:  # otherwise another column is at least as good
                certain = CERTAIN * ((low == 1) - (high == -1))
                scores[column] = values[column] + PRIOR * shares[column] + certain
        column = max(scores, key=scores.__getitem__)
        line = (column, *root.children[column].line())
        return SearchResult(column, values[column], nodes, self.depth, line)

    def _evaluated(self, nodes: list[_Node]) -> tuple[NDArray[np.float32], list[float]]:
        """Return the logits ``[7]`` of the first node, and the values of all nodes."""
        boards = np.array([(node.mine, node.theirs) for node in nodes], np.int64)
        logits, values = self.network.evaluate(*np.ascontiguousarray(boards.T))
        return logits[0], values.tolist()

    def _bounds(self, position: Position, policy: list[float]) -> Bounds:
        """Return the exact bounds on columns' results; {} if a side has an immediate win."""
        sides = position.mine, position.theirs
        if not (self.depth and self.limit) or winning_moves(*sides) or winning_moves(*sides[::-1]):
            return {}
        order = sorted(CENTRE_FIRST, key=lambda column: -policy[column])
        signs = self._solver.signs(position, self.limit, order)
        return {column: pair for column, pair in enumerate(signs) if pair is not None}


class _Node:
    """A node of the search tree; ``value`` is for the side to move."""

    __slots__ = ("children", "mine", "theirs", "value")

    def __init__(self, mine: int, theirs: int) -> None:
        self.mine = mine
        self.theirs = theirs
        self.value = 0.0
        self.children: dict[int, _Node] = {}  # by column, centre first

    def expand(self, depth: int, leaves: list[_Node], bounds: Bounds | None = None) -> None:
        """Expand ``depth`` plies, not counting forced moves; append new leaves to ``leaves``.

        Columns whose bounds give a certain result are not expanded.
        """
        occupied = self.mine | self.theirs
        cells = playable(occupied)
        wins = winning_moves(self.mine, self.theirs)
        blocks = winning_moves(self.theirs, self.mine)
        if wins:
            cells = wins
        elif blocks:
            cells = blocks
        elif depth == 0:
            leaves.append(self)
            return
        else:
            depth -= 1
        for column in CENTRE_FIRST:
            cell = cells & drop(occupied, column)
            if cell == 0:
                continue
            child = self.children[column] = _Node(self.theirs, self.mine | cell)
            if wins:
                child.value = popcount(occupied) / CELLS - 2  # lost; the later, the better
            elif bounds and bounds[column][0] == bounds[column][1]:
                child.value = -float(bounds[column][0])
            elif occupied | cell != BOARD:
                child.expand(depth, leaves)

    def back_up(self) -> float:
        """Compute the value by minimax."""
        if self.children:
            self.value = max(-child.back_up() for child in self.children.values())
        return self.value

    def line(self) -> tuple[int, ...]:
        """Return the principal variation from this node to a leaf."""
        for column, child in self.children.items():
            if -child.value == self.value:
                return (column, *child.line())
        return ()
