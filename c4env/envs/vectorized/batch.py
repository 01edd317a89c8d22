"""Many boards in one step, as arrays, without Gymnasium."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from c4env.arrays import Bools, Float64s, Int8s, Int64s
from c4env.errors import (
    IllegalMove,
    InvalidAction,
    InvalidOption,
    require_integer,
)

from ...bitboard import COLUMNS
from ...observation import Observation, other_values, planes_in
from ...position import Position, parse_column
from . import kernels
from .kernels import ONGOING


def boards_from(observation: Mapping[str, Any] | ArrayLike) -> Int64s:
    """Return bitboards int64 ``[N, 2]`` from N observations; the inverse of :func:`observed`.

    Args:
        observation: observations for the side to move, ``[N, 6, 7, 2]`` or another layout, in
            any numeric dtype; the array alone, or a dict with the key ``"observation"``.
    """
    planes = planes_in(observation, "N, ")
    boards = np.empty((len(planes), 2), np.int64)
    kernels.read_planes(planes, boards)
    if (boards < 0).any():
        raise other_values(planes)
    return boards


def observed(
    boards: Int64s, results: Int8s | None = None, seats: Int8s | None = None
) -> Observation:
    """Return observations of M boards, in new arrays.

    Args:
        boards, results: see ``c4env.envs.vectorized.kernels``; ``results=None``: no game is over.
        seats: int8 ``[M]``, the observing players; None for the side to move on each board.
    """
    size = len(boards)
    words = np.empty((size, kernels.WORDS), np.int32)
    masks = np.empty((size, COLUMNS), np.int8)
    results = np.zeros(size, np.int8) if results is None else results
    seats = np.full(size, -1, np.int8) if seats is None else seats
    kernels.observe(boards, results, seats, kernels.NO_COLUMN, words, masks, 0, size)
    return {"observation": kernels.as_planes(words), "action_mask": masks}


def parse_actions(actions: ArrayLike, size: int) -> Int64s:
    """Return actions as int64 ``[size]``."""
    array = np.asarray(actions)
    if array.shape != (size,):
        shape = f"({size},), one for each board"
        raise InvalidAction(f"actions of shape {array.shape}: expected {shape}")
    if array.dtype.kind not in "iu":
        raise InvalidAction(f"actions of dtype {array.dtype}: expected integers")
    return np.ascontiguousarray(array, np.int64)


def refusal(i: int, boards: Int64s, results: Int8s, action: int) -> Exception:
    """Return the error for an action that is illegal on board i."""
    if results[i] != ONGOING:
        return IllegalMove(f"board {i}: the game is over; reset the board first")
    try:
        Position.from_bitboards(int(boards[i, 0]), int(boards[i, 1])).play(parse_column(action))
    except (IllegalMove, InvalidAction) as error:
        return type(error)(f"board {i}: {error}")
    raise AssertionError(f"column {action} on board {i} is legal: expected an illegal one")


def bitboards(positions: Position | str | Sequence[Position | str]) -> Int64s:
    """Return bitboards int64 ``[K, 2]`` of one or more positions or move strings."""
    several = [positions] if isinstance(positions, (Position, str)) else positions
    if not isinstance(several, Sequence):
        raise InvalidOption(f"{positions!r}: expected positions or moves such as '4455'")
    if not several:
        raise InvalidOption("no positions: expected at least one")
    boards = np.empty((len(several), 2), np.int64)
    for i, given in enumerate(several):
        position = Position.parse(given) if isinstance(given, str) else given
        if not isinstance(position, Position):
            raise InvalidOption(f"{position!r}: expected a c4env.Position or moves such as '4455'")
        if position.outcome is not None:
            raise InvalidOption(f"cannot start from a finished game: {position!r}")
        boards[i] = position.mine, position.theirs
    return boards


def positions_of(boards: Int64s) -> list[Position]:
    """Return the positions on boards int64 ``[N, 2]``."""
    return [Position.from_bitboards(mine, theirs) for mine, theirs in boards.tolist()]


def parse_where(where: Any, size: int) -> Bools:
    """Check a mask of boards, bool ``[size]``, and return a copy; None chooses all boards."""
    if where is None:
        return np.ones(size, np.bool_)
    array: NDArray[Any] = np.asarray(where)
    if array.shape != (size,) or array.dtype != np.bool_:
        raise InvalidOption(
            f"a choice of boards of shape {array.shape} and dtype {array.dtype}: "
            f"expected ({size},) and bool"
        )
    return array.astype(np.bool_)


def set_starts(boards: Int64s, where: Bools, starts: Int64s) -> None:
    """Put a start position on each chosen board: one for all of these boards, or one for each."""
    chosen = int(where.sum())
    if len(starts) not in (1, chosen):
        raise InvalidOption(f"{len(starts)} start positions: expected 1 or {chosen}")
    boards[where] = starts


class Batch:
    """N boards on which the caller plays both sides, one ply in each step.

    Example:
        batch = Batch(1024)
        while True:
            planes, masks = batch.observe()
            rewards = batch.step(choose(planes, masks))
            batch.reset(batch.over)
    """

    def __init__(self, size: int, *, copy: bool = True) -> None:
        """Make empty boards.

        Args:
            size: number of boards, at least 1.
            copy: return new arrays from every call; with False every call reuses the same arrays.
        """
        self.size = require_integer("size", size)
        self.copy = copy
        self._boards = np.zeros((size, 2), np.int64)
        self._results = np.zeros(size, np.int8)
        self._seats = np.full(size, -1, np.int8)  # the side to move observes
        self._words = np.empty((size, kernels.WORDS), np.int32)
        self._masks = np.empty((size, COLUMNS), np.int8)
        self._rewards = np.empty((size, 2), np.float64)

    @property
    def over(self) -> Bools:
        """Whether each game is over, bool ``[N]``; a copy."""
        return np.not_equal(self._results, ONGOING)

    @property
    def results(self) -> Int8s:
        """The state of each game, int8 ``[N]``; a copy.

        The codes ``ONGOING``, ``WON_BY_0``, ``WON_BY_1`` and ``DRAWN`` are constants of
        ``c4env.envs.vectorized.kernels``.
        """
        return self._results.copy()

    @property
    def plies(self) -> Int8s:
        """The number of discs on each board, int8 ``[N]``; a copy."""
        return kernels.plies_of(self._boards)

    def positions(self) -> list[Position]:
        """The position on each board."""
        return positions_of(self._boards)

    def reset(
        self,
        where: ArrayLike | None = None,
        positions: Position | str | Sequence[Position | str] | None = None,
    ) -> None:
        """Start new games.

        Args:
            where: bool ``[N]``, the boards to start; None for all.
            positions: one start for all these boards, or one for each: positions or move
                strings. None means the empty board.
        """
        chosen = parse_where(where, self.size)
        set_starts(self._boards, chosen, bitboards("" if positions is None else positions))
        self._results[chosen] = ONGOING

    def step(self, actions: ArrayLike) -> Float64s:
        """Play one ply on every board.

        Args:
            actions: integers ``[N]``, 0-based columns.

        Returns:
            Rewards float64 ``[N, 2]`` of player 0 and player 1: 1 and -1 when a game is won.

        Raises:
            InvalidAction: the shape or dtype is wrong, or an action is not 0..6.
            IllegalMove: a column is full, or a game is over.

        An error names the board and leaves all boards unchanged.
        """
        played = parse_actions(actions, self.size)
        refused = kernels.first_refused(self._boards, self._results, played, False, False)
        if refused >= 0:
            raise refusal(refused, self._boards, self._results, int(played[refused]))
        kernels.play(self._boards, self._results, played, 0, self.size)
        rewards = np.empty_like(self._rewards) if self.copy else self._rewards
        kernels.write_player_rewards(self._results, rewards, 0, self.size)
        return rewards

    def observe(self) -> tuple[Int8s, Int8s]:
        """Return planes int8 ``[N, 6, 7, 2]`` and masks int8 ``[N, 7]`` for the side to move.

        Plane 0 holds the discs of the side to move; a mask is all zeros once the game is over.
        """
        words = np.empty_like(self._words) if self.copy else self._words
        masks = np.empty_like(self._masks) if self.copy else self._masks
        state = self._boards, self._results, self._seats
        kernels.observe(*state, kernels.NO_COLUMN, words, masks, 0, self.size)
        return kernels.as_planes(words), masks


def shares(size: int, threads: int) -> list[tuple[int, int]]:
    """Return the range of boards, start and stop, of each thread."""
    parts = max(1, min(threads, size))
    return list(itertools.pairwise(size * part // parts for part in range(parts + 1)))
