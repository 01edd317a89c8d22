"""Enumerate positions as sorted keys, one for each mirror pair, and score them without a search.

The key (``c4env.agents.solver.table.position_key``) determines the position: in each column
the highest set bit marks the cell above the top disc. Lower bits are discs of the side to move.

The scores of a ply follow from the scores of the next ply (:func:`backed_up`). So a book needs only
the scores of its last ply, and a small board needs only the scores of full boards
(:func:`whole_board`).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from c4env.agents.solver.table import NO_SCORE, position_key
from c4env.arrays import Bools, Int8s, Int64s
from c4env.bitboard import (
    BOTTOM,
    CELLS,
    COLUMNS,
    MARKED_COLUMN,
    STRIDE,
    drop,
    has_won,
    mirror_all,
    playable,
    win_score,
    winning_moves,
)
from c4env.errors import InvalidOption
from c4env.geometry import BOARD_SIZE
from c4env.jit import kernel

MOST_POSITIONS: Final = 20_000_000
"""The greatest number of positions to keep in memory, without mirror images."""

ROW: Final = np.dtype(
    [("mine", np.int64), ("theirs", np.int64), ("score", np.int8), ("columns", np.int8, (COLUMNS,))]
)
"""A position: bitboards of the side to move and of the other side (``c4env.bitboard``), the score
for the side to move (:class:`c4env.agents.solver.Solver`), and the score of each column;
``NO_SCORE`` if the column is full or the game is over."""


@kernel("UniTuple(int64, 2)(int64)")
def boards_of(key: int) -> tuple[int, int]:
    """Return the bitboards of the side to move and of the other side for a key."""
    occupied = 0
    for column in range(COLUMNS):
        field = (key >> (STRIDE * column)) & MARKED_COLUMN
        discs = 0
        while (discs << 1 | 1) < field:
            discs = discs << 1 | 1
        # A column's bits are the marker 2**h plus discs of the side to move, so at least 2**h.
        occupied |= discs << (STRIDE * column)
    mine = key - occupied - BOTTOM
    return mine, occupied ^ mine


@kernel(["int64(int64[::1], int64)", "int64(int32[::1], int64)"])
def find(keys: NDArray[Any], key: int) -> int:
    """Return the index of a key in an ascending array of keys; -1 if the key is not there."""
    low = 0
    high = len(keys)
    while low < high:
        middle = (low + high) >> 1
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low if low < len(keys) and keys[low] == key else -1


@kernel("int64(int64[::1], boolean, int64[::1])")
def successors(keys: Int64s, won: bool, out: Int64s) -> int:
    """Write keys of positions with one disc more, only won or only not won; return their number."""
    count = 0
    for i in range(len(keys)):
        mine, theirs = boards_of(int(keys[i]))
        moves = playable(mine | theirs)
        while moves:
            cell = moves & -moves
            moves ^= cell
            if has_won(mine | cell) == won:
                out[count] = position_key(theirs, mine | cell)
                count += 1
    return count


@kernel("int8[:, ::1](int64[::1], int64, int64[::1], int8[::1])")
def score_ply(keys: Int64s, plies: int, next_keys: Int64s, next_scores: Int8s) -> Int8s:
    """Return the columns' scores ``[N, 7]``, given the scores of all positions one disc later.

    A full column has ``NO_SCORE``.
    """
    columns = np.full((len(keys), COLUMNS), NO_SCORE, np.int8)
    for i in range(len(keys)):
        mine, theirs = boards_of(int(keys[i]))
        for column in range(COLUMNS):
            cell = drop(mine | theirs, column)
            if cell and has_won(mine | cell):
                columns[i, column] = win_score(plies + 1)
            elif cell:
                child = find(next_keys, position_key(theirs, mine | cell))
                columns[i, column] = -next_scores[child]
    return columns


@kernel("UniTuple(int64[::1], 2)(int64[::1])")
def bitboards(keys: Int64s) -> tuple[Int64s, Int64s]:
    """Return the bitboards ``[N]`` of the side to move and of the other side for keys."""
    mine, theirs = np.empty_like(keys), np.empty_like(keys)
    for i in range(len(keys)):
        mine[i], theirs[i] = boards_of(int(keys[i]))
    return mine, theirs


def one_disc_on(keys: Int64s, won: bool) -> Int64s:
    """Return sorted keys of positions with one disc more: only won ones, or only those not won."""
    out = np.empty(COLUMNS * len(keys), dtype=np.int64)
    return np.unique(out[: successors(keys, won, out)])


def layers(plies: int) -> list[Int64s]:
    """Return ascending keys of the unfinished positions of 0, 1, ..., ``plies`` discs."""
    keys = [np.array([BOTTOM], dtype=np.int64)]
    for _ in range(plies):
        keys.append(one_disc_on(keys[-1], False))
    return keys


def backed_up(keys: list[Int64s], last: Int8s) -> list[Int8s]:
    """Return the scores of every layer of positions, given the scores of the last layer."""
    scores = [np.ascontiguousarray(last)]
    for plies in range(len(keys) - 2, -1, -1):
        columns = score_ply(keys[plies], plies, keys[plies + 1], scores[0])
        scores.insert(0, columns.max(axis=1))
    return scores


def without_immediate_win(mine: Int64s, theirs: Int64s) -> Bools:
    """Return a mask ``[N]`` of positions in which neither side has an immediate win."""
    return np.array(
        [
            not winning_moves(first, second) | winning_moves(second, first)
            for first, second in zip(mine.tolist(), theirs.tolist(), strict=True)
        ],
        dtype=np.bool_,
    )


def whole_board() -> NDArray[np.void]:
    """Return all reachable positions as ``[N]`` rows of type ``ROW``, sorted by number of discs.

    Raises:
        InvalidOption: the board has too many positions.
    """
    going = [np.array([BOTTOM], np.int64)]  # keys of positions that are not won, by ply
    won = [np.empty(0, np.int64)]
    for _ in range(CELLS):
        won.append(one_disc_on(going[-1], True))
        going.append(one_disc_on(going[-1], False))
        if sum(map(len, going)) > MOST_POSITIONS:
            raise InvalidOption(
                f"board {BOARD_SIZE}: expected at most {MOST_POSITIONS:,} positions"
            )
    parts = []
    scores = np.zeros(len(going[CELLS]), np.int8)  # full boards
    for plies in range(CELLS, -1, -1):
        columns = np.full((len(going[plies]), COLUMNS), NO_SCORE, np.int8)
        if plies < CELLS:
            columns = score_ply(going[plies], plies, going[plies + 1], scores)
            scores = columns.max(axis=1)
        lost = np.full(len(won[plies]), -win_score(plies), np.int8)
        nothing = np.full((len(lost), COLUMNS), NO_SCORE, np.int8)
        parts += [_rows(won[plies], lost, nothing), _rows(going[plies], scores, columns)]
    return np.concatenate(parts[::-1])


def _rows(keys: Int64s, scores: Int8s, columns: Int8s) -> NDArray[np.void]:
    """Make rows of positions; a position that is not symmetric is followed by its mirror image."""
    rows = np.empty((len(keys), 2), ROW)
    rows["score"] = scores[:, None]
    rows["columns"] = np.stack([columns, columns[:, ::-1]], axis=1)
    for side, boards in zip(("mine", "theirs"), bitboards(keys), strict=True):
        rows[side] = np.stack([boards, mirror_all(boards)], axis=1)
    kept = np.ones(rows.shape, np.bool_)
    kept[:, 1] = mirror_all(keys) != keys
    return rows[kept]
