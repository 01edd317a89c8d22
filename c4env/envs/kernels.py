"""Kernels that start, play and observe many boards at once.

The state of N boards is arrays:

- ``boards`` int64 ``[N, 2]``: discs of the side to move, discs of the other side;
- ``results`` int8 ``[N]``: the state of each game, one of the codes below;
- ``seats`` int8 ``[N]``: the caller's player, 0 or 1; -1 in self-play;
- ``states`` int64 ``[N]``: a stream of random numbers (``c4env.envs.streams``) for each board.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from c4env.arrays import Bools, Float64s, Int8s, Int64s
from c4env.bitboard import (
    BOARD,
    CELLS,
    COLUMN,
    COLUMNS,
    FROM_TOP,
    ROWS,
    STRIDE,
    drop,
    fours,
    has_won,
    playable,
    popcount,
)
from c4env.envs.drand48 import below, next_random
from c4env.envs.streams import RANDOM_SEAT
from c4env.jit import kernel
from c4env.rules import ANY_COLUMN, NO_COLUMN

# The states of a game. A player forfeits a game by an illegal move.
ONGOING, WON_BY_0, WON_BY_1, DRAWN, FORFEIT_BY_0, FORFEIT_BY_1 = range(6)

# Rewards by code and player.
REWARDS: Final = np.array([[0, 0], [1, -1], [-1, 1], [0, 0], [-1, 0], [0, -1]], np.float64)

WORDS: Final = (2 * CELLS + 3) // 4  # int32 words of one board's planes
BYTE: Final = 8
HALF: Final = 2 * BYTE  # bits of half a word
EACH_BYTE: Final = 0x01010101  # the lowest bit of each byte of a word

SIX_BY_SEVEN: Final = ROWS == 6 and COLUMNS == 7  # a compile-time constant


# -- playing ---------------------------------------------------------------------------


@kernel("int64(int64[:, ::1], int8[::1], int64[::1], boolean, boolean)", nogil=True)
def first_refused(
    boards: Int64s, results: Int8s, actions: Int64s, skip_finished: bool, allow_full: bool
) -> int:
    """Return the index of the first board whose action is illegal; -1 if all are legal."""
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
def play_cell(boards: Int64s, i: int, cell: int) -> int:
    """Put a disc on a cell of board i, pass the turn, and return the state of the game."""
    mine = int(boards[i, 0]) | cell
    theirs = int(boards[i, 1])
    boards[i, 0] = theirs
    boards[i, 1] = mine
    if has_won(mine):
        return WON_BY_0 + (popcount(mine | theirs) - 1 & 1)
    return DRAWN if mine | theirs == BOARD else ONGOING


@kernel("void(int64[:, ::1], int8[::1], int64[::1])", nogil=True)
def play(boards: Int64s, results: Int8s, actions: Int64s) -> None:
    """Play one ply on every board whose game goes on; a full column forfeits the game.

    The caller has checked that actions are 0..6 (:func:`first_refused`).
    """
    for i in range(len(boards)):
        if results[i] != ONGOING:
            continue
        occupied = int(boards[i, 0] | boards[i, 1])
        cell = drop(occupied, int(actions[i]))
        if cell:
            results[i] = play_cell(boards, i, cell)
        else:
            results[i] = FORFEIT_BY_0 + (popcount(occupied) & 1)


# -- random draws ----------------------------------------------------------------------


@kernel("int64(int64[::1], int64, int64)", nogil=True)
def draw(states: Int64s, i: int, count: int) -> int:
    """Draw a number below ``count`` (at most 2**31) from stream i."""
    states[i] = next_random(int(states[i]))
    return below(int(states[i]), count)


@kernel(
    "UniTuple(int64[::1], 2)(int64[:, ::1], int8[::1], int8[::1], int64[::1])",
    nogil=True,
)
def waiting(boards: Int64s, results: Int8s, seats: Int8s, states: Int64s) -> tuple[Int64s, Int64s]:
    """Return the indices of the boards where the opponent is to move, and seeds for its moves.

    The streams of these boards advance, and the new states serve as seeds.
    """
    indices = np.empty(len(boards), np.int64)
    seeds = np.empty(len(boards), np.int64)
    count = 0
    for i in range(len(boards)):
        to_move = popcount(int(boards[i, 0] | boards[i, 1])) & 1
        if results[i] == ONGOING and to_move != seats[i]:
            states[i] = next_random(int(states[i]))
            indices[count], seeds[count] = i, states[i]
            count += 1
    return indices[:count], seeds[:count]


@kernel("int64(int64, int64)", nogil=True)
def random_cell(occupied: int, state: int) -> int:
    """Return a playable cell, drawn uniformly from the state of a stream."""
    cells = playable(occupied)
    for _ in range(below(state, popcount(cells))):
        cells &= cells - 1
    return cells & -cells


@kernel("int64[::1](int64[:, ::1], int64[::1])")
def random_columns(boards: Int64s, states: Int64s) -> Int64s:
    """Return the columns that ``"random"`` plays on boards ``[M, 2]``, from states ``[M]``."""
    columns = np.empty(len(boards), np.int64)
    for i in range(len(boards)):
        cell = random_cell(int(boards[i, 0] | boards[i, 1]), int(states[i]))
        columns[i] = popcount(cell - 1) // STRIDE
    return columns


@kernel("void(int64[:, ::1], int8[::1], int8[::1], int64[::1])", nogil=True)
def reply(boards: Int64s, results: Int8s, seats: Int8s, states: Int64s) -> None:
    """Play one ply of ``"random"`` on every board where ``"random"`` is to move."""
    for i in range(len(boards)):
        occupied = int(boards[i, 0] | boards[i, 1])
        if results[i] == ONGOING and popcount(occupied) & 1 != seats[i]:
            states[i] = next_random(int(states[i]))
            results[i] = play_cell(boards, i, random_cell(occupied, int(states[i])))


# -- starts ----------------------------------------------------------------------------


@kernel(
    "void(int64[:, ::1], int8[::1], int8[::1], int64[::1], int64[:, ::1], int64, boolean[::1])",
    nogil=True,
)
def begin(
    boards: Int64s,
    results: Int8s,
    seats: Int8s,
    states: Int64s,
    openings: Int64s,
    seat: int,
    where: Bools,
) -> None:
    """Start games on the chosen boards: draw an opening and, for ``RANDOM_SEAT``, a seat."""
    for i in range(len(boards)):
        if not where[i]:
            continue
        k = draw(states, i, len(openings)) if len(openings) > 1 else 0
        boards[i, 0] = openings[k, 0]
        boards[i, 1] = openings[k, 1]
        results[i] = ONGOING
        seats[i] = draw(states, i, 2) if seat == RANDOM_SEAT else seat


# -- observations ----------------------------------------------------------------------


@kernel("int64(int64, int64, int64)", nogil=True)
def two_bytes(own: int, other: int, column: int) -> int:
    """Return a column as two bytes: own discs in the low byte, other discs in the high byte."""
    shift = STRIDE * column
    return own >> shift & COLUMN | (other >> shift & COLUMN) << BYTE


@kernel("void(int64, int64, int32[:, ::1], int64)", forceinline=True)
def write_words(own: int, other: int, words: NDArray[np.int32], i: int) -> None:
    """Write the planes ``(6, 7, 2)`` of board i as int32 words ``[21]``, four bytes at once.

    A word shows two cells of a row, each as a byte of plane 0 and a byte of plane 1. The two bytes
    of :func:`two_bytes` hold the discs of a whole column, one bit per row. So the bytes of two
    columns, shifted by the row's height, have the word's bytes in their lowest bits.
    """
    if SIX_BY_SEVEN:  # two rows of seven cells are seven words
        c0 = two_bytes(own, other, 0)
        c1 = two_bytes(own, other, 1)
        c2 = two_bytes(own, other, 2)
        c3 = two_bytes(own, other, 3)
        c4 = two_bytes(own, other, 4)
        c5 = two_bytes(own, other, 5)
        c6 = two_bytes(own, other, 6)
        for pair in range(ROWS // 2):
            upper = ROWS - 1 - 2 * pair  # heights of the two rows
            lower = upper - 1
            k = COLUMNS * pair
            words[i, k] = (c0 | c1 << HALF) >> upper & EACH_BYTE
            words[i, k + 1] = (c2 | c3 << HALF) >> upper & EACH_BYTE
            words[i, k + 2] = (c4 | c5 << HALF) >> upper & EACH_BYTE
            words[i, k + 3] = (c6 >> upper | (c0 >> lower) << HALF) & EACH_BYTE
            words[i, k + 4] = (c1 | c2 << HALF) >> lower & EACH_BYTE
            words[i, k + 5] = (c3 | c4 << HALF) >> lower & EACH_BYTE
            words[i, k + 6] = (c5 | c6 << HALF) >> lower & EACH_BYTE
    else:  # cell by cell, a fifth slower
        for k in range(WORDS):
            first = FROM_TOP[2 * k]
            word = own >> first & 1 | (other >> first & 1) << BYTE
            if 2 * k + 1 < CELLS:
                second = FROM_TOP[2 * k + 1]
                word |= (own >> second & 1 | (other >> second & 1) << BYTE) << HALF
            words[i, k] = word


@kernel(
    "void(int64[:, ::1], int8[::1], int8[::1], int32[:, ::1], int8[:, ::1], int64[::1])",
    nogil=True,
)
def observe(
    boards: Int64s,
    results: Int8s,
    seats: Int8s,
    words: NDArray[np.int32],
    masks: Int8s,
    plies: Int64s,
) -> None:
    """Write planes as words ``[N, 21]``, masks ``[N, 7]`` and the numbers of discs ``[N]``.

    The player in ``seats`` observes; -1 means the side to move. In finished games the mask is all
    ones, because the next action is ignored and a softmax over an empty mask would give NaN.
    :func:`as_planes` views the words as planes.
    """
    for i in range(len(boards)):
        own = int(boards[i, 0])
        other = int(boards[i, 1])
        blocked = own | other
        discs = popcount(blocked)
        plies[i] = discs
        if seats[i] >= 0 and discs & 1 != seats[i]:
            own, other = other, own
            blocked = NO_COLUMN
        if results[i] != ONGOING:
            blocked = ANY_COLUMN
        write_words(own, other, words, i)
        for column in range(COLUMNS):
            masks[i, column] = 1 - (blocked >> (STRIDE * column + ROWS - 1) & 1)


def as_planes(words: NDArray[np.int32]) -> Int8s:
    """Return a view of the words ``[N, 21]`` of :func:`observe` as planes ``[N, 6, 7, 2]``."""
    # A word's lowest byte comes first; swap on a machine that stores it last.
    bytes_ = (words if np.little_endian else words.byteswap()).view(np.int8)
    return bytes_[:, : 2 * CELLS].reshape(-1, ROWS, COLUMNS, 2)


@kernel("UniTuple(int64, 2)(int8[:, :, ::1])")
def read_bitboards(planes: Int8s) -> tuple[int, int]:
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


@kernel("void(int8[:, :, :, ::1], int64[:, ::1])", nogil=True)
def read_planes(planes: Int8s, boards: Int64s) -> None:
    """Read planes ``[N, 6, 7, 2]`` of zeros and ones into ``boards``."""
    for i in range(len(boards)):
        boards[i, 0], boards[i, 1] = read_bitboards(planes[i])


# -- rewards ---------------------------------------------------------------------------


@kernel(
    "int64(int64[:, ::1], int8[::1], int8[::1], float64[::1], float64[:, ::1], boolean[::1],"
    " int64[::1], boolean[::1], int8[:, ::1])",
    nogil=True,
)
def write_results(
    boards: Int64s,
    results: Int8s,
    seats: Int8s,
    rewards: Float64s,
    player_rewards: Float64s,
    over: Bools,
    winners: Int64s,
    illegal: Bools,
    cells: Int8s,
) -> int:
    """Write rewards, and how games ended; return how many games are over.

    The rewards are for the caller. In self-play the caller is the player who moved last, which is
    the side to move after a forfeit and otherwise the other side. ``winners`` (0, 1, or -1 for a
    draw), ``illegal`` and ``cells`` ``[N, 42]`` (1 for the discs of the winning lines, row 0 on
    top) are zeros where the game goes on.
    """
    rewards[:] = 0.0
    player_rewards[:] = 0.0
    winners[:] = 0
    illegal[:] = False
    cells[:] = 0
    count = 0
    for i in range(len(boards)):
        result = results[i]
        over[i] = result != ONGOING
        if result == ONGOING:  # by far the most frequent case
            continue
        count += 1
        player = int(seats[i])
        if player < 0:
            player = popcount(int(boards[i, 0] | boards[i, 1])) & 1
            if result < FORFEIT_BY_0:
                player = 1 - player
        rewards[i] = REWARDS[result, player]
        player_rewards[i, 0], player_rewards[i, 1] = REWARDS[result, 0], REWARDS[result, 1]
        if result <= WON_BY_1:
            winners[i] = result - WON_BY_0
            discs = fours(int(boards[i, 1]))
            for row in range(ROWS):
                for column in range(COLUMNS):
                    bit = STRIDE * column + ROWS - 1 - row
                    cells[i, COLUMNS * row + column] = discs >> bit & 1
        elif result == DRAWN:
            winners[i] = -1
        else:
            winners[i] = FORFEIT_BY_1 - result  # the other player
            illegal[i] = True
    return count
