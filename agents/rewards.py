"""Exact rewards from the solver: how a move changes the value of the position.

Each function takes N positions and the N columns played there, and returns float32 ``[N]``. The
value of a position is 1 if the side to move wins with perfect play, 0 for a draw, -1 for a loss.

- :func:`keeps` rewards each move that gives away no win or draw.
- :func:`graded` also counts how much later a win comes, or how much sooner a loss comes.
- :func:`shaped` returns the value that a move loses, to be added to the result of the game.

Example:
    >>> from c4env.agents import rewards
    >>> rewards.keeps(["444444", "444444", "444444", "4"], [2, 0, 3, None]).tolist()
    [1.0, 0.0, -1.0, -1.0]
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from c4env.agents.solver import Solver
from c4env.arrays import Float32s, Int8s, Int64s
from c4env.bitboard import drop, has_won, win_score
from c4env.envs.batch import boards_from
from c4env.errors import IllegalMove, InvalidAction, InvalidPosition, is_boolean
from c4env.jit import kernel
from c4env.position import Position
from c4env.rules import CELLS, COLUMNS

Positions = Sequence[Position | str] | Mapping[str, Any] | ArrayLike
"""N positions, N move strings such as ``"4455"``, or observations of the sides to move."""
Columns = Iterable[SupportsIndex | None] | ArrayLike
"""N 0-based columns; None stands for an answer that names no column."""

NONE: Final = -1  # in place of a column
WON, QUIET, ILLEGAL = 1, 0, -1


class Moves(NamedTuple):
    """N moves in N positions."""

    mine: Int64s  # [N] bitboards of the side to move
    theirs: Int64s  # [N] bitboards of the other side
    after: Int64s  # [N] bitboards of the side to move after its move
    kinds: Int8s  # [N] WON: the move wins at once; ILLEGAL; QUIET: another move


def keeps(positions: Positions, columns: Columns, *, threads: int | None = None) -> Float32s:
    """Return 1 for a move that keeps the win or the draw, 0 for a move that gives it away.

    In a lost position each legal move gets 1. An illegal move or None gets -1.

    Args:
        positions: N positions or move strings, or observations of the side to move, such as
            ``[N, 6, 7, 2]``. No game may be over.
        columns: N 0-based columns, or None for an answer that names no column.
        threads: number of threads; by default one for each core that the process may use.

    Returns:
        rewards, float32 ``[N]``.

    Raises:
        InvalidPosition: a position is invalid, or its game is over.
        InvalidAction: there are not N columns, or a column is neither an integer nor None.
    """
    moves = _moves(positions, columns)
    return _keeps(moves, threads)


def graded(positions: Positions, columns: Columns, *, threads: int | None = None) -> Float32s:
    """Return how good a move is: 1 for the best, 0 for a move that loses to the next disc.

    Between 1 and 0, the reward falls by equal steps with the exact score (:class:`Solver`). So a
    win that comes later, a draw and a loss that comes sooner get less. An illegal move or None gets
    -1. :func:`keeps` describes the arguments, and is several times as fast.
    """
    moves = _moves(positions, columns)
    rewards = np.full(len(moves.kinds), -1, np.float32)
    legal = np.flatnonzero(moves.kinds != ILLEGAL)
    mine, theirs, after, kinds = (array[legal] for array in moves)
    worst = -WIN_SCORES[np.bitwise_count(mine | theirs) + 2]
    best = _solver().scores_many(mine, theirs, threads=threads)
    scores = best.copy()  # of the moves; a move that wins at once has the best score
    quiet = kinds == QUIET
    scores[quiet] = -_solver().scores_many(
        theirs[quiet], after[quiet], low=-best[quiet], high=-worst[quiet], threads=threads
    )
    distance = np.maximum(best - worst, 1)  # 0 if each move loses to the next disc
    rewards[legal] = 1 - (best - scores) / distance
    return rewards


def shaped(positions: Positions, columns: Columns, *, threads: int | None = None) -> Float32s:
    """Return the value after a move minus the value before it: 0, -1 or -2.

    Add the returned number to the result of the game, and a learner sees at once which move lost
    how much. The moves that are best against perfect play stay the best, because the shaping is by
    a potential, the exact value. An illegal move or None loses the game. :func:`keeps` describes
    the arguments.
    """
    moves = _moves(positions, columns)
    before = _solver().scores_many(moves.mine, moves.theirs, low=-1, high=1, threads=threads)
    after = np.where(moves.kinds == WON, 1, -1).astype(np.int8)
    asked = np.flatnonzero((moves.kinds == QUIET) & (before > -1))
    after[asked] = -_solver().scores_many(
        moves.theirs[asked], moves.after[asked], low=-before[asked], high=1, threads=threads
    )
    return (after - before).astype(np.float32)


def of_boards(boards: Int64s, columns: Int64s) -> Float32s:
    """Return :func:`keeps` for boards int64 ``[N, 2]`` of an environment, in the caller's thread.

    ``boards`` has the side to move first.
    """
    return _keeps(_played(boards, columns), threads=1)


def _keeps(moves: Moves, threads: int | None) -> Float32s:
    """Return the rewards of :func:`keeps`.

    The sign of one position decides which null window settles the other. The position in which the
    first player is to move, before or after the move, comes first: it is cheaper, or in the book.
    """
    rewards = moves.kinds.astype(np.float32)
    quiet = moves.kinds == QUIET
    is_firsts = np.bitwise_count(moves.mine | moves.theirs) % 2 == 0
    scores_many = functools.partial(_solver().scores_many, threads=threads)

    asked = np.flatnonzero(quiet & is_firsts)
    best = scores_many(moves.mine[asked], moves.theirs[asked], low=-1, high=1)
    rewards[asked] = best == -1  # in a lost position no move can lose more
    asked, best = asked[best > -1], best[best > -1]
    found = scores_many(moves.theirs[asked], moves.after[asked], low=-best, high=1 - best)
    rewards[asked] = found == -best

    asked = np.flatnonzero(quiet & ~is_firsts)
    value = -scores_many(moves.theirs[asked], moves.after[asked], low=-1, high=1)
    rewards[asked] = value == 1
    asked, value = asked[value < 1], value[value < 1]
    best = scores_many(moves.mine[asked], moves.theirs[asked], low=value, high=value + 1)
    rewards[asked] = best == value
    return rewards


def _moves(positions: Positions, columns: Columns) -> Moves:
    """Check the arguments and return the moves."""
    boards = _boards(positions)
    numbers = list(columns) if isinstance(columns, Iterable) else None
    if numbers is None or len(numbers) != len(boards):
        given = "no sequence" if numbers is None else f"{len(numbers)} columns"
        raise InvalidAction(f"{given}: expected {len(boards)} columns, one for each position")
    return _played(boards, np.array([_column(i, n) for i, n in enumerate(numbers)], np.int64))


def _boards(positions: Positions) -> Int64s:
    """Return bitboards int64 ``[N, 2]`` of unfinished games, the side to move first."""
    listed: Sequence[Any] | None = None
    if isinstance(positions, Iterable) and not isinstance(positions, Mapping | str):
        listed = list(positions)
    if listed is None and not isinstance(positions, Mapping):
        raise InvalidPosition(f"{positions!r}: expected positions, move strings or observations")
    if listed is not None and all(isinstance(each, Position | str) for each in listed):
        found = [_position(i, each) for i, each in enumerate(listed)]
        boards = np.array([(p.mine, p.theirs) for p in found], np.int64).reshape(-1, 2)
    else:
        boards = boards_from(positions)  # type: ignore[arg-type]  # not a single position
    over = ended(boards)
    if over >= 0:
        raise InvalidPosition(f"position {over}: the game is over, and no move is played there")
    return boards


def _position(i: int, position: Position | str) -> Position:
    try:
        return Position.parse(position) if isinstance(position, str) else position
    except (IllegalMove, InvalidPosition) as error:
        raise InvalidPosition(f"position {i}: {error}") from None


def _column(i: int, number: Any) -> int:
    """Return the i-th column as an int; ``NONE`` if it is not on the board."""
    if number is None:
        return NONE
    if is_boolean(number) or not isinstance(number, SupportsIndex):
        raise InvalidAction(f"column {i} is {number!r}: expected an integer from 0 on, or None")
    column = number.__index__()
    return column if 0 <= column < COLUMNS else NONE


def _played(boards: Int64s, columns: Int64s) -> Moves:
    mine, theirs = np.ascontiguousarray(boards.T)
    after, kinds = np.empty_like(mine), np.empty(len(mine), np.int8)
    play(mine, theirs, columns, after, kinds)
    return Moves(mine, theirs, after, kinds)


WIN_SCORES: Final = np.array([win_score(plies) for plies in range(CELLS + 3)], np.int8)
"""``[45]`` the score of a win with the disc of a number."""


@kernel("int64(int64[:, ::1])")
def ended(boards: Int64s) -> int:
    """Return the index of the first board whose game is over, or -1."""
    for i in range(len(boards)):
        mine, theirs = int(boards[i, 0]), int(boards[i, 1])
        full = True
        for column in range(COLUMNS):
            if drop(mine | theirs, column):
                full = False
        if full or has_won(theirs):
            return i
    return -1


@kernel("void(int64[::1], int64[::1], int64[::1], int64[::1], int8[::1])")
def play(mine: Int64s, theirs: Int64s, columns: Int64s, after: Int64s, kinds: Int8s) -> None:
    """Play the columns; write the movers' bitboards and the kinds of the moves."""
    for i in range(len(mine)):
        first, column = int(mine[i]), int(columns[i])
        cell = 0
        if 0 <= column < COLUMNS:
            cell = drop(first | int(theirs[i]), column)
        after[i] = first | cell
        if cell == 0:
            kinds[i] = ILLEGAL
        elif has_won(first | cell):
            kinds[i] = WON
        else:
            kinds[i] = QUIET


@functools.cache
def _solver() -> Solver:
    """Return the solver of the process, whose table the rewards share."""
    return Solver()
