"""Convert positions to observations (:func:`observe`) and back (:func:`position_from`).

An observation is a dict in PettingZoo's layout:

- ``"observation"``: int8 ``(6, 7, 2)``, row 0 on top; plane 0 holds the observing player's
  discs, plane 1 the other player's;
- ``"action_mask"``: int8 ``(7,)``, 1 for each legal column; all zeros if the other player is to
  move or the game is over.
"""

from __future__ import annotations

__any_board__ = True

import contextlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypedDict

import numpy as np
from numpy.typing import NDArray

from c4env.arrays import Int8s
from c4env.bitboard import BOARD, CELLS, COLUMNS, ROWS, STRIDE
from c4env.errors import InvalidObservation, InvalidOption, InvalidPosition
from c4env.jit import kernel
from c4env.position import Position, require_position

OBSERVATION_SHAPE: Final = (ROWS, COLUMNS, 2)
ILLEGAL_MASK: Final = BOARD  # on a full board no column is legal

LAYOUTS: Final[dict[str, Callable[[NDArray[Any]], NDArray[Any]]]] = {
    "flat": lambda planes: planes.reshape(*planes.shape[:-3], 2 * CELLS),
    "planes_last": lambda planes: planes,
    "planes_first": lambda planes: np.ascontiguousarray(np.moveaxis(planes, -1, -3)),
}
"""Functions from planes ``(..., 6, 7, 2)`` to ``(..., 84)``, the same, or ``(..., 2, 6, 7)``."""

LAYOUT_SHAPES: Final = {
    name: lay_out(np.empty(OBSERVATION_SHAPE)).shape for name, lay_out in LAYOUTS.items()
}

DTYPES: Final = ("int8", "float32")

_MIRRORED: Final = list(reversed(range(COLUMNS)))


class Observation(TypedDict):
    """The observation of one player; the module's docstring gives the shapes."""

    observation: Int8s  # (6, 7, 2)
    action_mask: Int8s  # (7,)


@kernel("void(int64, int64, int64, int8[:, :, ::1], int8[::1])")
def fill(own: int, other: int, blocked: int, planes: Int8s, mask: Int8s) -> None:
    """Write planes ``(6, 7, 2)`` and mask ``(7,)``; a blocked top makes a column illegal."""
    for row in range(ROWS):
        for column in range(COLUMNS):
            bit = STRIDE * column + ROWS - 1 - row
            planes[row, column, 0] = (own >> bit) & 1
            planes[row, column, 1] = (other >> bit) & 1
    for column in range(COLUMNS):
        mask[column] = 1 - ((blocked >> (STRIDE * column + ROWS - 1)) & 1)


@kernel("UniTuple(int64, 2)(int8[:, :, ::1])")
def read(planes: Int8s) -> tuple[int, int]:
    """Return the bitboards of planes 0 and 1; ``(-1, -1)`` if a value is not 0 or 1."""
    own = 0
    other = 0
    for row in range(ROWS):
        for column in range(COLUMNS):
            bit = STRIDE * column + ROWS - 1 - row
            first = planes[row, column, 0]
            second = planes[row, column, 1]
            if (first | second) & ~1:
                return -1, -1
            own |= int(first) << bit
            other |= int(second) << bit
    return own, other


def parse_layout(layout: str) -> tuple[int, ...]:
    """Return the shape of an observation in a layout.

    Raises:
        InvalidOption: the layout is not one of ``LAYOUTS``.
    """
    if layout not in list(LAYOUTS):
        raise InvalidOption(f"layout={layout!r}: expected one of {list(LAYOUTS)}")
    return LAYOUT_SHAPES[layout]


def parse_dtype(dtype: Any) -> np.dtype[Any]:
    """Return the dtype of an observation.

    Raises:
        InvalidOption: the dtype is not one of ``DTYPES``.
    """
    if dtype is not None:
        with contextlib.suppress(TypeError):
            parsed: np.dtype[Any] = np.dtype(dtype)
            if parsed.name in DTYPES:
                return parsed
    raise InvalidOption(f"dtype={dtype!r}: expected one of {list(DTYPES)}")


def observe(position: Position, player: int | None = None) -> Observation:
    """Return the observation of a position, in new arrays.

    Args:
        position: a position of this board.
        player: the observing player: 0, 1, or None for the side to move.

    Raises:
        InvalidPosition: ``position`` is not a position of this board.
        InvalidOption: ``player`` is not 0, 1 or None.

    Example:
        observe(Position.parse("44"))["action_mask"]  # int8 (7,), all ones
    """
    require_position(position)
    planes = np.empty(OBSERVATION_SHAPE, np.int8)
    mask = np.empty(COLUMNS, np.int8)
    if player not in (None, 0, 1):
        raise InvalidOption(f"player={player!r}: expected 0, 1 or None")
    own, other = position.mine, position.theirs
    blocked = own | other
    if player is not None and player != position.to_move:
        own, other, blocked = other, own, ILLEGAL_MASK
    if position.outcome is not None:
        blocked = ILLEGAL_MASK
    fill(own, other, blocked, planes, mask)
    return {"observation": planes, "action_mask": mask}


def observe_many(positions: Iterable[Position]) -> Observation:
    """Stack N positions' observations for the side to move: ``[N, 6, 7, 2]`` and ``[N, 7]``."""
    seen = [observe(position) for position in positions]
    return {
        "observation": np.stack([one["observation"] for one in seen]),
        "action_mask": np.stack([one["action_mask"] for one in seen]),
    }


def position_from(observation: Mapping[str, Any] | NDArray[Any]) -> Position:
    """Read the position from the observation of the player to move; the inverse of :func:`observe`.

    Args:
        observation: a dict with the key ``"observation"``, or the planes alone: zeros and ones
            of any numeric dtype, ``(6, 7, 2)`` or flat ``(84,)``.
            PettingZoo's connect four has the same layout.

    Raises:
        InvalidObservation: wrong shape or values, a disc above an empty cell, disc counts that
            do not fit the observer's turn, or an observer who has already won.
    """
    planes = observation.get("observation") if isinstance(observation, Mapping) else observation
    array = np.asarray(planes)
    if array.shape == (2 * CELLS,):
        array = array.reshape(OBSERVATION_SHAPE)
    if array.shape != OBSERVATION_SHAPE:
        raise InvalidObservation(f"planes of shape {array.shape}: expected {OBSERVATION_SHAPE}")
    flags = array.flags
    if array.dtype != np.int8 or not flags.c_contiguous or not flags.writeable:
        if array.dtype.kind not in "biuf" or not ((array == 0) | (array == 1)).all():
            raise InvalidObservation(f"planes must hold 0 and 1 only: {array.tolist()}")
        array = array.astype(np.int8, order="C")  # as the kernel's signature requires
    own, other = read(array)
    if own < 0:
        raise InvalidObservation(f"planes must hold 0 and 1 only: {array.tolist()}")
    try:
        return Position.from_bitboards(own, other)
    except InvalidPosition as error:
        raise InvalidObservation(f"not an observation of the player to move: {error}") from None


def with_mirrors(planes: Any, *columns: Any) -> tuple[Any, ...]:
    """Append the mirror image of each board to a batch: data augmentation by symmetry.

    Args:
        planes: observations of M boards in one of the ``LAYOUTS``: ``[M, 84]``,
            ``[M, 6, 7, 2]`` or ``[M, 2, 6, 7]``; an array or a tensor.
        columns: arrays ``[M, 7]`` with a value for each column: masks, policies, values.

    Returns:
        planes and columns, each with 2 M rows.

    Raises:
        InvalidObservation: the shape of ``planes`` or ``columns`` is wrong.
    """
    found = [name for name, shape in LAYOUT_SHAPES.items() if planes.shape[1:] == shape]
    if not found:
        expected = ", ".join(f"(M, {str(shape)[1:]}" for shape in LAYOUT_SHAPES.values())
        raise InvalidObservation(f"planes of shape {tuple(planes.shape)}: expected {expected}")
    turned = [_mirrored(planes, found[0])]
    for given in columns:
        if tuple(given.shape) != (len(planes), COLUMNS):
            raise InvalidObservation(
                f"columns of shape {tuple(given.shape)}: expected {(len(planes), COLUMNS)}"
            )
        turned.append(given[:, _MIRRORED])
    if isinstance(planes, np.ndarray):
        join: Any = np.concatenate
    else:
        import torch

        join = torch.cat
    return tuple(join([a, b]) for a, b in zip((planes, *columns), turned, strict=True))


def _mirrored(planes: Any, layout: str) -> Any:
    if layout == "planes_first":
        return planes[..., _MIRRORED]
    return planes.reshape(-1, *OBSERVATION_SHAPE)[:, :, _MIRRORED].reshape(planes.shape)
