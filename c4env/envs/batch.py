"""Many boards at once, as arrays and kernels; no Gymnasium needed.

The state of N boards is two arrays:

- ``boards`` int64 ``[N, 2]``: discs of the side to move, discs of the other side;
- ``results`` int8 ``[N]``: how each game stands, one of the codes below.

Everything else follows from these. The kernels work on boards ``start`` to ``stop`` and
release the interpreter's lock, so that threads can share a batch. They stand in one file with
the class that calls them, since all of them live by these two layouts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from c4env.bitboard import BOARD, BOTTOM, COLUMN, COLUMNS, ROWS, STRIDE, has_won, popcount
from c4env.errors import IllegalMove, InvalidAction, InvalidObservation, InvalidOption
from c4env.jit import kernel
from c4env.observation import OBSERVATION_SHAPE
from c4env.position import Position, parse_column

# How a game stands. A forfeit is an illegal move of that player.
ONGOING: Final = 0
WON_BY_0: Final = 1
WON_BY_1: Final = 2
DRAWN: Final = 3
FORFEIT_BY_0: Final = 4
FORFEIT_BY_1: Final = 5

# By code and player.
REWARDS: Final = np.array([[0, 0], [1, -1], [-1, 1], [0, 0], [-1, 0], [0, -1]], np.float64)

WORDS: Final = ROWS * COLUMNS * 2 // 4  # int32 words of one board's planes
_EACH_BYTE: Final = 0x01010101


@kernel("int64(int64[:, ::1], int8[::1], int64[::1], boolean, boolean)", nogil=True)
def first_refused(
    boards: NDArray[np.int64],
    results: NDArray[np.int8],
    actions: NDArray[np.int64],
    skip_finished: bool,
    allow_full: bool,
) -> int:
    """Index of the first board that its action cannot be played on, -1 if there is none."""
    for i in range(len(actions)):
        if results[i] != ONGOING:
            if skip_finished:
                continue
            return i
        action = int(actions[i])
        if action < 0 or action >= COLUMNS:
            return i
        occupied = int(boards[i, 0] | boards[i, 1])
        if not allow_full and (occupied >> (STRIDE * action + ROWS - 1)) & 1:
            return i
    return -1


@kernel("int64(int64[:, ::1], int64, int64)", nogil=True)
def put(boards: NDArray[np.int64], i: int, cell: int) -> int:
    """Play a cell on board i, which passes the turn; returns the code of the result."""
    mine = int(boards[i, 0]) | cell
    theirs = int(boards[i, 1])
    boards[i, 0] = theirs
    boards[i, 1] = mine
    if has_won(mine):
        return WON_BY_0 + (popcount(mine | theirs) - 1 & 1)
    return DRAWN if mine | theirs == BOARD else ONGOING


@kernel("void(int64[:, ::1], int8[::1], int64[::1], int64, int64)", nogil=True)
def play(
    boards: NDArray[np.int64],
    results: NDArray[np.int8],
    actions: NDArray[np.int64],
    start: int,
    stop: int,
) -> None:
    """One ply on every board whose game goes on; a full column forfeits the game.

    Actions are 0..6 already (:func:`first_refused`).
    """
    for i in range(start, stop):
        if results[i] != ONGOING:
            continue
        occupied = int(boards[i, 0] | boards[i, 1])
        cell = (occupied + BOTTOM) & (COLUMN << (STRIDE * int(actions[i])))
        if cell:
            results[i] = put(boards, i, cell)
        else:
            results[i] = FORFEIT_BY_0 + (popcount(occupied) & 1)


@kernel(
    "void(int64[:, ::1], int8[::1], int8[::1], int32[:, ::1], int8[:, ::1], int64, int64)",
    nogil=True,
)
def observe(
    boards: NDArray[np.int64],
    results: NDArray[np.int8],
    seats: NDArray[np.int8],
    words: NDArray[np.int32],
    masks: NDArray[np.int8],
    start: int,
    stop: int,
) -> None:
    """Write what is seen: planes as int32 words ``[N, 21]``, masks ``[N, 7]``.

    A board is seen by the player in ``seats`` (0 or 1), or by the side to move where
    that is -1. A word holds four bytes of the planes ``(6, 7, 2)``, so a pair of rows is
    seven words; byte k of a word gets the bit of its cell by one shift for all four.
    """
    for i in range(start, stop):
        own = int(boards[i, 0])
        other = int(boards[i, 1])
        blocked = own | other
        if seats[i] >= 0 and popcount(blocked) & 1 != seats[i]:
            own, other = other, own
            blocked = BOARD
        if results[i] != ONGOING:
            blocked = BOARD
        # Two bytes a column: its own discs, then the other's.
        c0 = own & COLUMN | (other & COLUMN) << 8
        c1 = own >> 7 & COLUMN | (other >> 7 & COLUMN) << 8
        c2 = own >> 14 & COLUMN | (other >> 14 & COLUMN) << 8
        c3 = own >> 21 & COLUMN | (other >> 21 & COLUMN) << 8
        c4 = own >> 28 & COLUMN | (other >> 28 & COLUMN) << 8
        c5 = own >> 35 & COLUMN | (other >> 35 & COLUMN) << 8
        c6 = own >> 42 & COLUMN | (other >> 42 & COLUMN) << 8
        for pair in range(ROWS // 2):
            upper = ROWS - 1 - 2 * pair  # heights of the two rows
            lower = upper - 1
            k = COLUMNS * pair
            words[i, k] = (c0 | c1 << 16) >> upper & _EACH_BYTE
            words[i, k + 1] = (c2 | c3 << 16) >> upper & _EACH_BYTE
            words[i, k + 2] = (c4 | c5 << 16) >> upper & _EACH_BYTE
            words[i, k + 3] = (c6 >> upper & 0x0101) | (c0 >> lower & 0x0101) << 16
            words[i, k + 4] = (c1 | c2 << 16) >> lower & _EACH_BYTE
            words[i, k + 5] = (c3 | c4 << 16) >> lower & _EACH_BYTE
            words[i, k + 6] = (c5 | c6 << 16) >> lower & _EACH_BYTE
        for column in range(COLUMNS):
            masks[i, column] = 1 - (blocked >> (STRIDE * column + ROWS - 1) & 1)


@kernel("void(int8[:, :, :, ::1], int64[:, ::1])", nogil=True)
def read(planes: NDArray[np.int8], boards: NDArray[np.int64]) -> None:
    """Write the boards that planes ``[N, 6, 7, 2]`` of zeros and ones show."""
    for i in range(len(boards)):
        own = 0
        other = 0
        for row in range(ROWS):
            for column in range(COLUMNS):
                height = STRIDE * column + ROWS - 1 - row
                own |= int(planes[i, row, column, 0]) << height
                other |= int(planes[i, row, column, 1]) << height
        boards[i, 0] = own
        boards[i, 1] = other


@kernel(
    "void(int64[:, ::1], int8[::1], int8[::1], float64[:, ::1], float64[::1], boolean[::1],"
    " int64, int64)",
    nogil=True,
)
def settle(
    boards: NDArray[np.int64],
    results: NDArray[np.int8],
    seats: NDArray[np.int8],
    table: NDArray[np.float64],
    rewards: NDArray[np.float64],
    terminations: NDArray[np.bool_],
    start: int,
    stop: int,
) -> None:
    """Write what the last ply brought; ``table`` is ``REWARDS``.

    The reward is that of the player in ``seats``; where that is -1, of the player who
    moved: the one not to move now, or, after a forfeit, to move still.
    """
    for i in range(start, stop):
        result = results[i]
        if result == ONGOING:  # by far the most frequent case
            rewards[i] = 0.0
            terminations[i] = False
            continue
        player = int(seats[i])
        if player < 0:
            player = popcount(int(boards[i, 0] | boards[i, 1])) & 1
            if result < FORFEIT_BY_0:
                player = 1 - player
        rewards[i] = table[result, player]
        terminations[i] = True


@kernel("void(int8[::1], float64[:, ::1], float64[:, ::1], int64, int64)", nogil=True)
def credit(
    results: NDArray[np.int8],
    table: NDArray[np.float64],
    player_rewards: NDArray[np.float64],
    start: int,
    stop: int,
) -> None:
    """Write the rewards ``[N, 2]`` of both players; ``table`` is ``REWARDS``."""
    for i in range(start, stop):
        result = results[i]
        if result == ONGOING:
            player_rewards[i, 0] = 0.0
            player_rewards[i, 1] = 0.0
        else:
            player_rewards[i, 0] = table[result, 0]
            player_rewards[i, 1] = table[result, 1]


@kernel("void(int64[:, ::1], int8[::1], int64, int64)", nogil=True)
def count_plies(boards: NDArray[np.int64], plies: NDArray[np.int8], start: int, stop: int) -> None:
    """Write the number of discs on every board."""
    for i in range(start, stop):
        plies[i] = popcount(int(boards[i, 0] | boards[i, 1]))


def as_planes(words: NDArray[np.int32]) -> NDArray[np.int8]:
    """The planes int8 ``[N, 6, 7, 2]`` in the words ``[N, 21]`` of :func:`observe`; a view."""
    # A word's lowest byte comes first; on a machine that stores it last, swap.
    if np.little_endian:
        return words.view(np.int8).reshape(-1, ROWS, COLUMNS, 2)
    return words.byteswap().view(np.int8).reshape(-1, ROWS, COLUMNS, 2)


def boards_from(planes: ArrayLike) -> NDArray[np.int64]:
    """Boards int64 ``[N, 2]`` of what the sides to move see, the inverse of :func:`observe`.

    Args:
        planes: zeros and ones in any numeric dtype, ``[N, 6, 7, 2]``.

    Raises:
        InvalidObservation: another shape, or other values.
    """
    array = np.asarray(planes)
    if array.shape[1:] != OBSERVATION_SHAPE:
        raise InvalidObservation(f"planes of shape {array.shape}: expected (N, 6, 7, 2)")
    if array.dtype.kind not in "biuf" or not ((array == 0) | (array == 1)).all():
        raise InvalidObservation("planes must hold 0 and 1 only")
    boards = np.empty((len(array), 2), np.int64)
    read(np.array(array, np.int8, order="C"), boards)  # a copy: the kernel wants it writable
    return boards


def parse_actions(actions: ArrayLike, size: int) -> NDArray[np.int64]:
    """Actions as int64 ``[size]``.

    Raises:
        InvalidAction: another shape, or not integers.
    """
    array = np.asarray(actions)
    if array.shape != (size,):
        raise InvalidAction(f"actions of shape {array.shape}: expected one a board, ({size},)")
    if array.dtype.kind not in "iu":
        raise InvalidAction(f"actions of dtype {array.dtype}: expected integers")
    return np.ascontiguousarray(array, np.int64)


def refusal(i: int, boards: NDArray[np.int64], results: NDArray[np.int8], action: int) -> Exception:
    """The error that says why an action cannot be played on board i."""
    if results[i] != ONGOING:
        return IllegalMove(f"board {i}: the game is over; reset the board first")
    try:
        Position.from_bitboards(int(boards[i, 0]), int(boards[i, 1])).play(parse_column(action))
    except (IllegalMove, InvalidAction) as error:
        return type(error)(f"board {i}: {error}")
    raise AssertionError(f"board {i}: {action} can be played")


def bitboards(positions: Position | str | Sequence[Position | str]) -> NDArray[np.int64]:
    """Boards int64 ``[K, 2]`` of one or more positions or move strings.

    Raises:
        InvalidOption: none at all, a finished game, or something else.
        InvalidNotation, IllegalMove: a bad move string.
    """
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


def positions_of(boards: NDArray[np.int64]) -> list[Position]:
    """The boards as values."""
    return [Position.from_bitboards(mine, theirs) for mine, theirs in boards.tolist()]


def parse_where(where: Any, size: int) -> NDArray[np.bool_]:
    """A choice of boards as bool ``[size]``; None for all.

    Raises:
        InvalidOption: another shape or dtype.
    """
    if where is None:
        return np.ones(size, np.bool_)
    array: NDArray[Any] = np.asarray(where)
    if array.shape != (size,) or array.dtype != np.bool_:
        raise InvalidOption(
            f"a choice of boards of shape {array.shape} and dtype {array.dtype}: "
            f"expected ({size},) and bool"
        )
    return array.astype(np.bool_)


def place(boards: NDArray[np.int64], where: NDArray[np.bool_], starts: NDArray[np.int64]) -> None:
    """Put one start on all chosen boards, or one a chosen board.

    Raises:
        InvalidOption: another number of starts.
    """
    chosen = int(where.sum())
    if len(starts) not in (1, chosen):
        raise InvalidOption(f"{len(starts)} start positions: expected 1 or {chosen}")
    boards[where] = starts


class Batch:
    """N boards on which the caller plays both sides, one ply a step.

    Example:
        batch = Batch(1024)
        while True:
            planes, masks = batch.observe()
            rewards = batch.step(choose(planes, masks))
            batch.reset(batch.over)
    """

    def __init__(self, size: int, *, copy: bool = True) -> None:
        """Empty boards.

        Args:
            size: number of boards, at least 1.
            copy: fresh arrays from every call; False hands out the same ones again,
                overwritten by the next call.

        Raises:
            InvalidOption: a bad size.
        """
        self.size = parse_size(size)
        self.copy = copy
        self._boards = np.zeros((size, 2), np.int64)
        self._results = np.zeros(size, np.int8)
        self._seats = np.full(size, -1, np.int8)  # seen by the side to move
        self._words = np.empty((size, WORDS), np.int32)
        self._masks = np.empty((size, COLUMNS), np.int8)
        self._rewards = np.empty((size, 2), np.float64)

    @property
    def over(self) -> NDArray[np.bool_]:
        """Bool ``[N]``: whose games have ended; a copy."""
        return np.not_equal(self._results, ONGOING)

    @property
    def results(self) -> NDArray[np.int8]:
        """Int8 ``[N]``: ``ONGOING``, ``WON_BY_0``, ``WON_BY_1`` or ``DRAWN``; a copy."""
        return self._results.copy()

    @property
    def plies(self) -> NDArray[np.int8]:
        """Int8 ``[N]``: discs on each board; a copy."""
        plies = np.empty(self.size, np.int8)
        count_plies(self._boards, plies, 0, self.size)
        return plies

    def positions(self) -> list[Position]:
        """Every board as a value."""
        return positions_of(self._boards)

    def reset(
        self,
        where: ArrayLike | None = None,
        positions: Position | str | Sequence[Position | str] | None = None,
    ) -> None:
        """Start new games.

        Args:
            where: bool ``[N]``, the boards to start on; None for all.
            positions: one start for all of them, or one each; positions or move strings.
                None for the empty board.

        Raises:
            InvalidOption: a bad ``where``, a finished game, or a wrong number of starts.
            InvalidNotation, IllegalMove: a bad move string.
        """
        chosen = parse_where(where, self.size)
        place(self._boards, chosen, bitboards("" if positions is None else positions))
        self._results[chosen] = ONGOING

    def step(self, actions: ArrayLike) -> NDArray[np.float64]:
        """One ply on every board.

        Args:
            actions: integers ``[N]``, 0-based columns.

        Returns:
            Rewards float64 ``[N, 2]`` of player 0 and player 1: 1 and -1 when a game is won.

        Raises:
            InvalidAction: a wrong shape or dtype, or an action that is not 0..6.
            IllegalMove: a full column, or a game that is over.

        An error names the board; no board has changed.
        """
        played = parse_actions(actions, self.size)
        refused = first_refused(self._boards, self._results, played, False, False)
        if refused >= 0:
            raise refusal(refused, self._boards, self._results, int(played[refused]))
        play(self._boards, self._results, played, 0, self.size)
        rewards = np.empty_like(self._rewards) if self.copy else self._rewards
        credit(self._results, REWARDS, rewards, 0, self.size)
        return rewards

    def observe(self) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        """What the side to move sees: planes int8 ``[N, 6, 7, 2]`` and masks int8 ``[N, 7]``.

        Plane 0 holds the discs of the side to move; a mask is all zeros once the game is over.
        """
        words = np.empty_like(self._words) if self.copy else self._words
        masks = np.empty_like(self._masks) if self.copy else self._masks
        observe(self._boards, self._results, self._seats, words, masks, 0, self.size)
        return as_planes(words), masks


def parse_size(size: object) -> int:
    """A number of boards.

    Raises:
        InvalidOption: not a positive integer.
    """
    if not isinstance(size, (int, np.integer)) or isinstance(size, bool) or size < 1:
        raise InvalidOption(f"{size!r} boards: expected a positive integer")
    return int(size)
