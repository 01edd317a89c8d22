"""Random draws on boards: the random opponent, seats, openings.

Every board has its own streams of random numbers (``c4env.envs.drand48``), so its games
depend on its own seed and not on other boards. One stream draws starts, another the opponent's
moves, so the starts do not depend on the opponent.
"""

from __future__ import annotations

import warnings
from typing import Final, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from c4env.arrays import Bools, Int8s, Int64s
from c4env.envs.drand48 import STATES, below, next_random
from c4env.errors import InvalidOption
from c4env.jit import kernel

from ..bitboard import CELLS, STRIDE, playable, popcount, winning_moves
from ..openings import Starts, list_openings
from ..position import DIGITS
from .batch import bitboards, positions_of
from .kernels import ONGOING, play_cell
from .options import parse_seat

RANDOM_SEAT: Final = 2


def parse_player(self_play: bool, seat: int | str) -> int:
    """Return the caller's player: 0, 1, ``RANDOM_SEAT``, or -1 in self-play."""
    player = parse_seat(seat)
    return -1 if self_play else RANDOM_SEAT if player is None else player


def parse_openings(openings: Starts, player: int) -> Int64s:
    """Return bitboards int64 ``[K, 2]`` to start from; None means the empty board.

    Those that the opponent's first move could end are left out, with a warning.
    """
    openings = "" if openings is None else openings
    if isinstance(openings, str) and len(openings) != 1 and set(openings) <= set(DIGITS):
        openings = [openings]  # moves, since a number of plies has one digit
    elif isinstance(openings, str | SupportsIndex):
        openings = list_openings(openings)  # also of a NumPy integer
    boards = bitboards(openings)
    ends = could_end(boards, player)
    left_out = f"openings: in {ends.sum()} of {len(ends)} the opponent's first move could end"
    if ends.all():
        raise InvalidOption(f"{left_out} the game: expected at least one other opening")
    if ends.any():
        warnings.warn(f"{left_out} the game; they are left out", stacklevel=3)
    return boards[~ends]


def require_starts(boards: Int64s, player: int) -> Int64s:
    """Return start positions after checking that the opponent's first move can end none of them."""
    ends = could_end(boards, player)
    if ends.any():
        (start,) = positions_of(boards[ends][:1])
        raise InvalidOption(
            f"cannot start from {start!r}: the opponent is to move and could end the game"
        )
    return boards


@kernel("boolean[::1](int64[:, ::1], int64)")
def could_end(boards: Int64s, player: int) -> Bools:
    """Return on which boards the opponent, to move, could end the game; ``player``: the caller."""
    ends = np.zeros(len(boards), np.bool_)
    for i in range(len(boards)):
        mine = int(boards[i, 0])
        theirs = int(boards[i, 1])
        plies = popcount(mine | theirs)
        if player >= 0 and plies & 1 != player:
            ends[i] = plies == CELLS - 1 or winning_moves(mine, theirs) != 0
    return ends


def streams(seeds: NDArray[np.uint64]) -> Int64s:
    """Return the initial states int64 ``[N]`` of streams with seeds uint64 ``[N]``.

    The finaliser of SplitMix64 mixes the seeds, so that neighbouring seeds give unlike streams.
    """
    mixed = seeds + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((mixed ^ (mixed >> np.uint64(31))) & np.uint64(STATES - 1)).astype(np.int64)


def both_streams(seeds: NDArray[np.uint64]) -> Int64s:
    """Return the initial states int64 ``[2, N]`` of each board's two streams, from N seeds."""
    return streams(np.stack([seeds, ~seeds]))


@kernel("int64(int64[::1], int64, int64)", nogil=True)
def draw(states: Int64s, i: int, count: int) -> int:
    """Draw a number below ``count`` (at most 2**31) from stream i."""
    states[i] = next_random(int(states[i]))
    return below(int(states[i]), count)


@kernel("int64[::1](int64[::1], int64[::1])")
def seeds_of(states: Int64s, boards: Int64s) -> Int64s:
    """Advance the streams of these boards; the new states serve as seeds."""
    seeds = np.empty(len(boards), np.int64)
    for i in range(len(boards)):
        states[boards[i]] = next_random(int(states[boards[i]]))
        seeds[i] = states[boards[i]]
    return seeds


@kernel("int64(int64, int64)", nogil=True)
def random_cell(occupied: int, state: int) -> int:
    """Return a playable cell, drawn uniformly from the state of a stream."""
    cells = playable(occupied)
    for _ in range(below(state, popcount(cells))):
        cells &= cells - 1
    return cells & -cells


@kernel("int64[::1](int64[:, ::1], int64[::1])")
def random_columns(discs: Int64s, states: Int64s) -> Int64s:
    """Return the columns that ``"random"`` plays on boards ``[M, 2]``, from states ``[M]``."""
    columns = np.empty(len(discs), np.int64)
    for i in range(len(discs)):
        cell = random_cell(int(discs[i, 0] | discs[i, 1]), int(states[i]))
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
