"""N games of the caller, against an opponent or in self-play.

The state is that of ``c4env.envs.vectorized.kernels``, with the caller's seats and streams of
random numbers for each board. Methods with ``start`` and ``stop`` work only on the boards in that
range, and several threads may call them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from c4env.arrays import Bools, Float64s, Int8s, Int64s
from c4env.errors import InvalidAction, InvalidOption, OpponentFailed, require_integer

from ...bitboard import COLUMNS
from ...position import Position
from ..opponents import AnyOpponent, Follower, follower_of
from ..options import parse_seat, refuse_instant_end
from . import batch, chance, kernels

AFTER: Final = "; then call reset()"  # the end of a message: the step is not undone


class Arrays(NamedTuple):
    """The arrays that a step writes and returns."""

    words: NDArray[np.int32]  # [N, 21], the planes
    masks: Int8s  # [N, 7]
    rewards: Float64s  # [N]
    terminations: Bools  # [N]
    truncations: Bools  # [N], never true
    player_rewards: Float64s  # [N, 2]
    plies: Int8s  # [N]
    seats: Int8s  # [N], not written in self-play

    @classmethod
    def make(cls, size: int) -> Arrays:
        """Make arrays for a number of boards."""
        return cls(
            np.empty((size, kernels.WORDS), np.int32),
            np.empty((size, COLUMNS), np.int8),
            np.empty(size, np.float64),
            np.empty(size, np.bool_),
            np.zeros(size, np.bool_),
            np.empty((size, 2), np.float64),
            np.empty(size, np.int8),
            np.empty(size, np.int8),
        )


def parse_player(self_play: bool, seat: int | str) -> int:
    """Return the caller's player: 0, 1, ``chance.RANDOM_SEAT``, or -1 in self-play."""
    player = parse_seat(seat)
    return -1 if self_play else chance.RANDOM_SEAT if player is None else player


def parse_openings(openings: Any, player: int) -> Int64s:
    """Return bitboards int64 ``[K, 2]`` to start from; None means the empty board."""
    boards = batch.bitboards("" if openings is None else openings)
    for start in batch.positions_of(boards) if player >= 0 else ():
        if player != start.to_move:
            refuse_instant_end(start)
    return boards


class Games:
    """The boards, the opponent, and the random streams of each board.

    Attributes:
        size: number of boards, N.
        boards, results: the state; see ``c4env.envs.vectorized.kernels``.
        seats: int8 ``[N]``, the caller's player; -1 in self-play.
        streams: int64 ``[2, N]``, random streams for starts and for the opponent; see
            ``c4env.envs.vectorized.chance``.
        self_play: True if there is no opponent.
        opponent: the opponent as given; None in self-play.
        follower: the object that chooses the opponent's columns, in one thread. None in self-play,
            and for ``"random"``, whose moves a kernel plays.
    """

    def __init__(
        self,
        size: int,
        opponent: AnyOpponent,
        seat: int | str,
        openings: Sequence[Position | str] | Position | str | None,
    ) -> None:
        """Make empty boards; :meth:`begin` starts games."""
        self.size = require_integer("num_envs", size)
        self.self_play = opponent is None
        self.set_opponent(opponent)
        self._seat = parse_player(self.self_play, seat)
        self._openings = parse_openings(openings, self._seat)
        self.boards = np.zeros((size, 2), np.int64)
        self.results = np.zeros(size, np.int8)
        self.seats = np.full(size, -1, np.int8)
        self.streams = np.zeros((2, size), np.int64)

    def set_opponent(self, opponent: AnyOpponent) -> None:
        """Replace the opponent from its next move on."""
        if self.self_play != (opponent is None):
            now = "self-play" if self.self_play else "games against an opponent"
            raise InvalidOption(
                f"opponent={opponent!r}: these boards were made for {now}, which cannot change"
            )
        self.follower = follower_of(opponent)
        self.opponent = opponent

    @property
    def _state(self) -> tuple[Int64s, Int8s, Int8s]:
        """The first arguments of every kernel: boards, results and seats."""
        return self.boards, self.results, self.seats

    def begin(self, where: Bools, start: int, stop: int) -> None:
        """Start games on chosen boards, without the opponent's first move."""
        drawn = self.streams[0], self._openings, self._seat
        chance.begin(*self._state, *drawn, where, start, stop)
        if self.follower is not None and len(new := np.flatnonzero(where)):
            self.follower.begin(new, self.streams[1, new])

    def parse_starts(self, start: Any, where: Bools) -> Int64s:
        """Return boards int64 ``[N, 2]`` with start positions on chosen boards."""
        boards = np.zeros_like(self.boards)
        batch.set_starts(boards, where, parse_openings(start, self._seat))
        return boards

    def play(self, actions: Int64s, start: int, stop: int) -> None:
        """Play the caller's ply on every board whose game goes on; actions are 0..6."""
        kernels.play(self.boards, self.results, actions, start, stop)

    def reply(self, start: int, stop: int) -> None:
        """Play the opponent's ply on every board where the opponent is to move.

        Raises:
            OpponentFailed: the opponent raised an error or returned an illegal column.
        """
        if self.follower is not None:
            self._follow(self.follower)
        elif not self.self_play:
            chance.reply(*self._state, self.streams[1], start, stop)

    def _follow(self, follower: Follower) -> None:
        waiting = kernels.waiting(*self._state)
        if not len(waiting):
            return
        boards, results = self.boards.take(waiting, 0), self.results.take(waiting)
        try:
            answer = follower.columns(boards, waiting, chance.seeds_of(self.streams[1], waiting))
            actions = batch.parse_actions(answer, len(waiting))
        except (OpponentFailed, InvalidAction) as error:
            where = _shortened(waiting)
            raise OpponentFailed(f"the opponent on boards {where}: {error}{AFTER}") from error
        except Exception as error:
            name, where = type(error).__name__, _shortened(waiting)
            raise OpponentFailed(
                f"the opponent raised {name} on boards {where}: {error}{AFTER}"
            ) from error
        refused = kernels.first_refused(boards, results, actions, False, False)
        if refused >= 0:
            board = int(waiting[refused])
            why = batch.refusal(board, self.boards, self.results, int(actions[refused]))
            raise OpponentFailed(f"the opponent's move: {why}{AFTER}")
        kernels.play(boards, results, actions, 0, len(waiting))
        self.boards[waiting], self.results[waiting] = boards, results

    def write_rewards(self, arrays: Arrays, start: int, stop: int) -> None:
        """Write rewards and terminations; pass the rewards of finished games to the follower."""
        kernels.write_rewards(*self._state, arrays.rewards, arrays.terminations, start, stop)
        kernels.write_player_rewards(self.results, arrays.player_rewards, start, stop)
        if self.follower is not None and len(ended := np.flatnonzero(arrays.terminations)):
            self.follower.end(ended, arrays.rewards[ended])

    def write_observations(self, arrays: Arrays, finished: int, start: int, stop: int) -> None:
        """Write observations, plies and seats; ``kernels.observe`` explains ``finished``."""
        kernels.observe(*self._state, finished, arrays.words, arrays.masks, start, stop)
        kernels.count_plies(self.boards, arrays.plies, start, stop)
        if not self.self_play:
            arrays.seats[start:stop] = self.seats[start:stop]


def _shortened(numbers: Int64s) -> str:
    text = ", ".join(map(str, numbers[:8].tolist()))
    return text + (", ..." if len(numbers) > 8 else "")
