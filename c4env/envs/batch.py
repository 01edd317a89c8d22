"""Boards as arrays: made from positions, observations and openings, and turned back into them.

``boards`` is int64 ``[N, 2]``, as in ``c4env.envs.kernels``. The module also checks actions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from c4env.arrays import Int8s, Int64s
from c4env.envs import kernels
from c4env.envs.kernels import ONGOING
from c4env.envs.starts import parse_starts
from c4env.errors import IllegalMove, InvalidAction
from c4env.observation import Observation, planes_in, values_error
from c4env.position import Position, parse_column
from c4env.rules import COLUMNS


def boards_from(observation: Mapping[str, Any] | ArrayLike) -> Int64s:
    """Return bitboards int64 ``[N, 2]`` from N observations; reverses :func:`observed`.

    Args:
        observation: observations for the side to move, ``[N, 6, 7, 2]`` or another layout, in
            any numeric dtype: the array, or a dict with the key ``"observation"``.
    """
    planes = planes_in(observation, "N, ")
    boards = np.empty((len(planes), 2), np.int64)
    kernels.read_planes(planes, boards)
    if (boards < 0).any():
        raise values_error(planes)
    return boards


def observed(boards: Int64s, seats: Int8s | None = None) -> Observation:
    """Return observations of M unfinished boards, in new arrays.

    Args:
        boards: int64 ``[M, 2]``; see ``c4env.envs.kernels``.
        seats: int8 ``[M]``, the observing players; None for the side to move on each board.
    """
    size = len(boards)
    words = np.empty((size, kernels.WORDS), np.int32)
    masks, plies = np.empty((size, COLUMNS), np.int8), np.empty(size, np.int64)
    results = np.zeros(size, np.int8)
    seats = np.full(size, -1, np.int8) if seats is None else seats
    kernels.observe(boards, results, seats, words, masks, plies)
    return {"observation": kernels.as_planes(words), "action_mask": masks}


def bitboards(positions: Position | str | Sequence[Position | str]) -> Int64s:
    """Return bitboards int64 ``[K, 2]`` of one or more positions or move strings."""
    starts = parse_starts(positions)
    return np.array([(start.mine, start.theirs) for start in starts], np.int64)


def discs_on(boards: Int64s) -> Int8s:
    """Return the number of discs on boards ``[N, 2]``."""
    counts: Int8s = np.bitwise_count(boards[:, 0] | boards[:, 1]).astype(np.int8)
    return counts


def positions_of(boards: Int64s) -> list[Position]:
    """Return the positions on boards int64 ``[N, 2]``."""
    return [Position.from_bitboards(mine, theirs) for mine, theirs in boards.tolist()]


def parse_actions(actions: ArrayLike, size: int) -> Int64s:
    """Return actions as int64 ``[size]``, in an array that a kernel takes."""
    array = np.asarray(actions)
    if array.shape != (size,):
        shape = f"({size},), one for each board"
        raise InvalidAction(f"actions of shape {array.shape}: expected {shape}")
    if array.dtype.kind not in "iu":
        raise InvalidAction(f"actions of dtype {array.dtype}: expected integers")
    columns = np.ascontiguousarray(array, np.int64)
    return columns if columns.flags.writeable else columns.copy()


def action_error(i: int, boards: Int64s, results: Int8s, action: int) -> Exception:
    """Return the error for an action that is illegal on board i."""
    if results[i] != ONGOING:
        return IllegalMove(f"board {i}: the game is over; reset the board first")
    try:
        Position.from_bitboards(int(boards[i, 0]), int(boards[i, 1])).play(parse_column(action))
    except (IllegalMove, InvalidAction) as error:
        return type(error)(f"board {i}: {error}")
    raise AssertionError(f"column {action} on board {i} is legal: expected an illegal one")
