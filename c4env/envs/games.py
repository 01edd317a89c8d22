"""N games between the caller and an opponent, or between the caller and itself.

The state is that of ``c4env.envs.batch``, and with it the caller's seats and a stream of random
numbers for each board. The methods that take ``start`` and ``stop`` work on these boards
only, and can be called from several threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from c4env.bitboard import COLUMNS
from c4env.envs import batch, opponents
from c4env.envs.options import refuse_instant_end
from c4env.errors import IllegalMove, InvalidAction, InvalidOption, OpponentFailed
from c4env.observation import Observation
from c4env.position import Position

# Called with the observations of M boards on which it is to move, int8 [M, 6, 7, 2] and
# [M, 7]; returns M columns.
BatchOpponent = Callable[[Observation], ArrayLike]

_SEATS: Final[dict[Any, int]] = {"random": opponents.RANDOM_SEAT, 0: 0, 1: 1}


class Arrays(NamedTuple):
    """What a step writes and hands out."""

    words: NDArray[np.int32]  # [N, 21], the planes
    masks: NDArray[np.int8]  # [N, 7]
    rewards: NDArray[np.float64]  # [N]
    terminations: NDArray[np.bool_]  # [N]
    truncations: NDArray[np.bool_]  # [N], never true
    player_rewards: NDArray[np.float64]  # [N, 2]
    plies: NDArray[np.int8]  # [N]
    seats: NDArray[np.int8]  # [N], not written in self-play

    @classmethod
    def make(cls, size: int) -> Arrays:
        """Arrays for a number of boards."""
        return cls(
            np.empty((size, batch.WORDS), np.int32),
            np.empty((size, COLUMNS), np.int8),
            np.empty(size, np.float64),
            np.empty(size, np.bool_),
            np.zeros(size, np.bool_),
            np.empty((size, 2), np.float64),
            np.empty(size, np.int8),
            np.empty(size, np.int8),
        )


class Games:
    """The boards, the opponent and what chance needs.

    Attributes:
        size: number of boards, N.
        boards, results: the state; see ``c4env.envs.batch``.
        seats: int8 ``[N]``, the caller's player; -1 in self-play.
        streams: int64 ``[N]``, random numbers; see ``c4env.envs.opponents``.
        self_play: True without an opponent.
        is_callable: True when the opponent is a function, to be asked in one thread.
    """

    def __init__(
        self,
        size: int,
        opponent: str | BatchOpponent | None,
        seat: int | str,
        openings: Sequence[Position | str] | Position | str | None,
    ) -> None:
        """Empty boards; :meth:`begin` starts games.

        Raises:
            InvalidOption: an argument has another value; see ``ConnectFourVectorEnv``.
            InvalidNotation, IllegalMove: a bad opening.
        """
        self.size = batch.parse_size(size)
        self.self_play = opponent is None
        self._level = -1
        self._callable: BatchOpponent | None = None
        if isinstance(opponent, str) and opponent in opponents.LEVELS:
            self._level = opponents.LEVELS[opponent]
        elif callable(opponent):
            self._callable = opponent
        elif opponent is not None:
            raise InvalidOption(
                f"opponent={opponent!r}: expected None, one of {list(opponents.LEVELS)}, or a "
                "callable on a batch of observations; agents.batched.opponent makes one of an agent"
            )
        self.is_callable = self._callable is not None
        if isinstance(seat, bool) or seat not in list(_SEATS):
            raise InvalidOption(f"seat={seat!r}: expected 0, 1 or 'random'")
        self._seat = -1 if self.self_play else _SEATS[seat]
        self._openings = batch.bitboards("" if openings is None else openings)
        if not self.self_play:
            for start in batch.positions_of(self._openings):
                if self._seat != start.to_move:
                    refuse_instant_end(start)
        self.boards = np.zeros((size, 2), np.int64)
        self.results = np.zeros(size, np.int8)
        self.seats = np.full(size, -1, np.int8)
        self.streams = np.zeros(size, np.int64)

    def save(self) -> tuple[NDArray[Any], ...]:
        """A copy of everything that play changes, for :meth:`restore`."""
        return self.boards.copy(), self.results.copy(), self.seats.copy(), self.streams.copy()

    def restore(self, saved: tuple[NDArray[Any], ...]) -> None:
        """Go back to what :meth:`save` returned."""
        self.boards, self.results, self.seats, self.streams = saved

    def over(self) -> NDArray[np.bool_]:
        """Bool ``[N]``: whose games have ended; a fresh array."""
        return np.not_equal(self.results, batch.ONGOING)

    def begin(self, where: NDArray[np.bool_], start: int, stop: int) -> None:
        """New games, before the opponent's first move, on chosen boards."""
        opponents.begin(
            self.boards,
            self.results,
            self.seats,
            self.streams,
            self._openings,
            self._seat,
            where,
            start,
            stop,
        )

    def place(self, where: NDArray[np.bool_], starts: NDArray[np.int64]) -> None:
        """Put starts, one or one each, on the chosen boards, whose games have just begun.

        Raises:
            InvalidOption: another number of starts, or one that the opponent could end
                before the caller's first move.
        """
        batch.place(self.boards, where, starts)
        if self.self_play:
            return
        placed = batch.positions_of(self.boards[where])
        for position, seat in zip(placed, self.seats[where].tolist(), strict=True):
            if seat != position.to_move:
                refuse_instant_end(position)

    def play(self, actions: NDArray[np.int64], start: int, stop: int) -> None:
        """The caller's ply wherever the game goes on; actions are 0..6 already."""
        batch.play(self.boards, self.results, actions, start, stop)

    def reply(self, start: int, stop: int) -> None:
        """The opponent's ply wherever it is to move; a callable is asked for all boards.

        Raises:
            OpponentFailed: a callable raised, or chose what it cannot play.
        """
        if self._callable is not None:
            self._ask(self._callable)
        elif not self.self_play:
            opponents.reply(
                self.boards, self.results, self.seats, self.streams, self._level, start, stop
            )

    def _ask(self, opponent: BatchOpponent) -> None:
        plies = np.empty(self.size, np.int8)
        batch.count_plies(self.boards, plies, 0, self.size)
        waiting = np.flatnonzero((self.results == batch.ONGOING) & (plies & 1 != self.seats))
        if not len(waiting):
            return
        boards, results = self.boards[waiting], self.results[waiting]
        try:
            answer = opponent(observed(boards, results, np.full(len(waiting), -1, np.int8)))
        except Exception as error:
            raise OpponentFailed(
                f"the opponent raised {type(error).__name__}, asked for boards "
                f"{_shortened(waiting)}: {error}"
            ) from error
        try:
            actions = batch.parse_actions(answer, len(waiting))
        except InvalidAction as error:
            raise OpponentFailed(
                f"the opponent, asked for boards {_shortened(waiting)}: {error}"
            ) from None
        refused = batch.first_refused(boards, results, actions, False, False)
        if refused >= 0:
            board = int(waiting[refused])
            try:
                raise batch.refusal(board, self.boards, self.results, int(actions[refused]))
            except (IllegalMove, InvalidAction) as error:
                raise OpponentFailed(f"the opponent's move on {error}") from None
        batch.play(boards, results, actions, 0, len(waiting))
        self.boards[waiting], self.results[waiting] = boards, results

    def settle(self, arrays: Arrays, start: int, stop: int) -> None:
        """Write what the last plies brought."""
        batch.settle(
            self.boards,
            self.results,
            self.seats,
            batch.REWARDS,
            arrays.rewards,
            arrays.terminations,
            start,
            stop,
        )
        batch.credit(self.results, batch.REWARDS, arrays.player_rewards, start, stop)

    def look(self, arrays: Arrays, start: int, stop: int) -> None:
        """Write what is to be seen now."""
        batch.observe(
            self.boards, self.results, self.seats, arrays.words, arrays.masks, start, stop
        )
        batch.count_plies(self.boards, arrays.plies, start, stop)
        if not self.self_play:
            arrays.seats[start:stop] = self.seats[start:stop]


def observed(
    boards: NDArray[np.int64], results: NDArray[np.int8], seats: NDArray[np.int8]
) -> Observation:
    """Observations of some boards, in fresh arrays."""
    words = np.empty((len(boards), batch.WORDS), np.int32)
    masks = np.empty((len(boards), COLUMNS), np.int8)
    batch.observe(boards, results, seats, words, masks, 0, len(boards))
    return {"observation": batch.as_planes(words), "action_mask": masks}


def _shortened(numbers: NDArray[np.int64]) -> str:
    text = ", ".join(map(str, numbers[:8].tolist()))
    return text + (", ..." if len(numbers) > 8 else "")
