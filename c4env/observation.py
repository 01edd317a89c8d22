"""Convert positions to observations (:func:`observe`) and back (:func:`position_from`).

An observation is a dict in PettingZoo's layout:

- ``"observation"``: int8 ``(6, 7, 2)``, row 0 on top; plane 0 holds the observing player's
  discs, plane 1 the other player's;
- ``"action_mask"``: int8 ``(7,)``, 1 for each legal column; all zeros if the other player is to
  move or the game is over.

The environments have arguments ``layout`` and ``dtype`` for another form of ``"observation"``.
:func:`position_from` and :func:`with_mirrors` read every layout:

================  =============  ===========================================================
layout            shape          meaning of the numbers
================  =============  ===========================================================
``planes_last``   ``(6, 7, 2)``  1 in plane 0: observer's disc; 1 in plane 1: other's disc
``planes_first``  ``(2, 6, 7)``  as in ``planes_last``
``flat``          ``(84,)``      the numbers of ``planes_last``, row by row
``signed``        ``(6, 7)``     0: empty; 1: observer's disc; -1: other's disc
``tokens``        ``(42,)``      0: empty; 1: observer's disc; 2: other's disc; row by row
================  =============  ===========================================================
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypedDict

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from c4env.arrays import Int8s, Int64s
from c4env.errors import InvalidOption, InvalidPosition
from c4env.position import Position, require_position
from c4env.rules import CELLS, COLUMNS, FROM_TOP, NO_COLUMN, ROWS, TOP

if TYPE_CHECKING:
    from gymnasium import spaces

OBSERVATION_SHAPE: Final = (ROWS, COLUMNS, 2)

_WORD: Final = 64  # bits for the discs of a player
_PLACES: Final = np.add.outer(FROM_TOP, (0, _WORD)).reshape(OBSERVATION_SHAPE)  # of each bit
_VALUES: Final = np.left_shift(1, np.array(FROM_TOP))  # of each cell, in a bitboard
_BYTE: Final = np.dtype(np.uint8)
_BYTES: Final = (np.arange(256)[:, np.newaxis] >> np.arange(8) & 1).astype(np.int8)  # as bits


class Layout(NamedTuple):
    """How an observation shows the planes ``(..., 6, 7, 2)``, as an array or a tensor."""

    shape: tuple[int, ...]
    write: Callable[[Any], Any]  # planes to this layout
    read: Callable[[Any], Any]  # the inverse, up to the planes' shape
    values: tuple[int, ...] = (0, 1)  # of a cell: empty, observer's disc, perhaps other's disc
    numbers: int = 1  # how many numbers a cell has, side by side


def _numbered(shape: tuple[int, ...], other: int) -> Layout:
    """Return a layout with one number for each cell, ``other`` for the other player's disc."""
    return Layout(
        shape,
        lambda planes: (planes[..., 0] + other * planes[..., 1]).reshape(
            *planes.shape[:-3], *shape
        ),
        lambda cells: np.stack([cells == 1, cells == other], -1),
        (0, 1, other),
    )


LAYOUTS: Final = {
    "planes_last": Layout(
        OBSERVATION_SHAPE, lambda planes: planes, lambda planes: planes, numbers=2
    ),
    "flat": Layout(
        (2 * CELLS,),
        lambda planes: planes.reshape(*planes.shape[:-3], 2 * CELLS),
        lambda cells: cells,
        numbers=2,
    ),
    "planes_first": Layout(
        (2, ROWS, COLUMNS),
        lambda planes: planes.swapaxes(-1, -2).swapaxes(-2, -3),
        lambda planes: planes.swapaxes(-3, -2).swapaxes(-2, -1),
    ),
    "signed": _numbered((ROWS, COLUMNS), -1),
    "tokens": _numbered((CELLS,), 2),
}
"""The layouts by name; the module's docstring describes them."""

DTYPES: Final = ("int8", "float32", "int64")

_MIRRORED: Final = np.array([*reversed(range(COLUMNS))])


class Observation(TypedDict):
    """The observation of one player, a dict of two arrays.

    Row 0 is on top. Plane 0 has the discs of the observing player, and plane 1 has the discs of
    the other player. The mask has 1 for each legal column, and only zeros if the other player is to
    move or the game is over.

    Example:
        >>> observation = observe(Position.parse("4"))
        >>> observation["observation"][5, 3]  # the other side's disc at the bottom
        array([0, 1], dtype=int8)
    """

    observation: Int8s  #: ``(6, 7, 2)``
    action_mask: Int8s  #: ``(7,)``


def observe(position: Position, player: int | None = None) -> Observation:
    """Return the observation of a position, in new arrays.

    Args:
        position: a position of this board.
        player: the observing player: 0, 1, or None for the side to move.

    Raises:
        InvalidPosition: ``position`` is not a position of this board.
        InvalidOption: ``player`` is not 0, 1 or None.

    Example:
        >>> observe(Position.parse("444444"))["action_mask"]
        array([1, 1, 1, 0, 1, 1, 1], dtype=int8)
    """
    require_position(position)
    if player not in (None, 0, 1):
        raise InvalidOption(f"player={player!r}: expected 0, 1 or None")
    own, other = position.mine, position.theirs
    blocked = own | other
    if player is not None and player != position.to_move:
        own, other, blocked = other, own, NO_COLUMN
    if position.outcome is not None:
        blocked = NO_COLUMN
    return write_planes(own, other, blocked)


def position_from(observation: Mapping[str, Any] | NDArray[Any]) -> Position:
    """Return the position in an observation of the player to move; reverses :func:`observe`.

    Args:
        observation: a dict with the key ``"observation"``, or only the array, in any of the
            ``LAYOUTS`` and any numeric dtype. PettingZoo's connect four has the same planes.

    Raises:
        InvalidPosition: a wrong shape or value, a disc above an empty cell, disc counts that
            do not fit the observer's turn, or an observer who has already won.

    Example:
        >>> position_from(observe(Position.parse("4433")))
        Position.parse('4433')
    """
    if isinstance(observation, Position):
        raise InvalidPosition(
            f"{observation!r} is a position: expected an observation, or use .choose(position)"
        )
    planes = planes_in(observation)
    own, other = read_planes(planes)
    try:
        return Position.from_bitboards(own, other)
    except InvalidPosition as error:
        raise InvalidPosition(f"not an observation of the player to move: {error}") from None


def with_mirrors(planes: Any, *columns: Any) -> tuple[Any, ...]:
    """Return a batch with the mirror image of each board, to augment training data by symmetry.

    Args:
        planes: observations of M boards in one of the ``LAYOUTS``: an array of NumPy or JAX, a
            tensor of PyTorch, or nested lists.
        columns: arrays, tensors or lists of shape ``[M, 7]`` with a value for each column, such as
            masks, policies or values.

    Returns:
        planes and columns, each with 2 M rows and of the type that was given. Lists become arrays.

    Raises:
        InvalidPosition: the shape of ``planes`` or ``columns`` is wrong.

    Example:
        >>> planes = observe(Position.parse("1"))["observation"][np.newaxis]
        >>> policies = np.array([[0.9, 0.1, 0, 0, 0, 0, 0]])
        >>> planes, policies = with_mirrors(planes, policies)
        >>> planes.shape, policies[1]
        ((2, 6, 7, 2), array([0. , 0. , 0. , 0. , 0. , 0.1, 0.9]))
    """
    planes, *others = (
        np.asarray(a) if isinstance(a, list | tuple) else a for a in (planes, *columns)
    )
    numbers = LAYOUTS[layout_of(planes.shape, "M, ")].numbers
    others_of_board = math.prod(planes.shape[1:]) // (COLUMNS * numbers)
    by_column = planes.reshape(len(planes), others_of_board, COLUMNS, numbers)
    found = [_joined(planes, by_column[:, :, _MIRRORED].reshape(planes.shape))]
    for values in others:
        if tuple(values.shape) != (len(planes), COLUMNS):
            raise InvalidPosition(
                f"columns of shape {tuple(values.shape)}: expected {(len(planes), COLUMNS)}"
            )
        found.append(_joined(values, values[:, _MIRRORED]))
    return tuple(found)


def _joined(first: Any, second: Any) -> Any:
    """Return the rows of two arrays of NumPy or JAX, or of two tensors of PyTorch, as one."""
    if hasattr(first, "__array_namespace__"):
        return first.__array_namespace__().concat([first, second])
    import torch

    return torch.cat([first, second])


class Form:
    """The form of an environment's observations: a layout and a dtype.

    Raises:
        InvalidOption: the layout is not in ``LAYOUTS``, or the dtype is not in ``DTYPES``.
    """

    def __init__(self, layout: str, dtype: DTypeLike = "int8") -> None:
        if layout not in list(LAYOUTS):
            raise InvalidOption(f"layout={layout!r}: expected one of {list(LAYOUTS)}")
        self.layout = layout
        with contextlib.suppress(TypeError):
            self.dtype: np.dtype[Any] = np.dtype(dtype)
            if dtype is not None and self.dtype.name in DTYPES:
                return
        raise InvalidOption(f"dtype={dtype!r}: expected one of {list(DTYPES)}")

    @property
    def space(self) -> spaces.Dict:
        """The Gymnasium space of one board's dict of ``"observation"`` and ``"action_mask"``."""
        from gymnasium import spaces

        layout = LAYOUTS[self.layout]
        low, high = min(layout.values), max(layout.values)
        cells = spaces.Box(low, high, layout.shape, self.dtype.type)
        mask = spaces.Box(0, 1, (COLUMNS,), np.int8)
        return spaces.Dict({"observation": cells, "action_mask": mask})

    def __call__(self, planes: Int8s) -> NDArray[Any]:
        """Convert planes int8 ``(..., 6, 7, 2)`` to this layout and dtype."""
        return np.ascontiguousarray(LAYOUTS[self.layout].write(planes), self.dtype)


def layout_of(shape: tuple[int, ...], lead: str = "") -> str:
    """Return the name of the layout with a shape; ``lead="N, "`` if ``shape`` begins with N.

    Raises:
        InvalidPosition: no layout has the shape.
    """
    for name, layout in LAYOUTS.items():
        if layout.shape == (shape[1:] if lead else shape):
            return name
    expected = " or ".join(f"({lead}{str(layout.shape)[1:]}" for layout in LAYOUTS.values())
    raise InvalidPosition(f"planes of shape {tuple(shape)}: expected {expected}")


def planes_in(observation: Mapping[str, Any] | ArrayLike, lead: str = "") -> Int8s:
    """Return the planes in observations of any layout, int8, C-contiguous and writable.

    Raises:
        InvalidPosition: the shape or a value is wrong. The values of int8 planes are not checked.
    """
    board = observation.get("observation") if isinstance(observation, Mapping) else observation
    array = np.asarray(board)
    layout = LAYOUTS[layout_of(array.shape, lead)]
    if array.dtype != np.int8 or len(layout.values) > 2:
        is_valid = np.any([array == value for value in layout.values], axis=0)
        if array.dtype.kind not in "biuf" or not is_valid.all():
            raise values_error(array, layout.values)
    planes = layout.read(array).reshape(*(array.shape[:1] if lead else ()), *OBSERVATION_SHAPE)
    return np.require(planes, np.int8, ["C", "W"])  # as the kernels' signatures require


def values_error(array: NDArray[Any], values: Iterable[int] = (0, 1)) -> InvalidPosition:
    """Return the error for an array with entries that are not in ``values``."""
    expected = " and ".join(map(str, values))
    return InvalidPosition(f"planes must hold only {expected}: {array.tolist()}")


def planes_of(boards: Int64s) -> Int8s:
    """Return the planes of bitboards int64 ``(..., K)``: int8 ``(..., 6, 7, K)``, row 0 on top."""
    count = boards.shape[-1]
    bits = _BYTES.take(np.ascontiguousarray(boards, "<i8").view(_BYTE), 0)
    places = np.add.outer(FROM_TOP, _WORD * np.arange(count)).reshape(ROWS, COLUMNS, count)
    return bits.reshape(*boards.shape[:-1], count * _WORD).take(places, -1)


def write_planes(own: int, other: int, blocked: int) -> Observation:
    """Return an observation in new arrays; a column is illegal if its top is blocked."""
    both = np.frombuffer((own | other << _WORD).to_bytes(2 * _WORD // 8, "little"), _BYTE)
    planes = _BYTES.take(both, 0).take(_PLACES)
    return {"observation": planes, "action_mask": _mask(blocked & TOP).copy()}


@functools.cache
def _mask(tops: int) -> Int8s:
    """Return the mask of the columns whose top cell is not in ``tops``."""
    return np.array([1 - (tops >> bit & 1) for bit in FROM_TOP[:COLUMNS]], np.int8)


def read_planes(planes: Int8s) -> tuple[int, int]:
    """Return the bitboards of planes ``(6, 7, 2)``; reverses :func:`write_planes`."""
    if planes.tobytes().translate(None, b"\0\1"):
        raise values_error(planes)
    own, other = (_VALUES @ planes.reshape(CELLS, 2)).tolist()
    return own, other
