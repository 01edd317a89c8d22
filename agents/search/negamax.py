"""Exact negamax without pruning: part 3 of "Solving Connect 4".

The search is only for endings, because each further empty cell makes the tree several times larger.
Later parts of the report improve the search, as ``c4env.agents.solver`` does.
"""

from __future__ import annotations

from typing import Any, Final

from c4env.agents.base import LineSearch, require_move
from c4env.agents.making.options import Positions, validate_args
from c4env.agents.search.lowlevel import POINTER, pointer
from c4env.agents.search.threads import LIMIT, search_interruptibly
from c4env.arrays import Int64s
from c4env.bitboard import CELLS, COLUMNS, drop, win_score, winning_moves
from c4env.errors import SearchLimit
from c4env.jit import kernel
from c4env.position import Position

GAVE_UP: Final = -1000  # in place of a score: the search reached its node limit
POLL_PLIES: Final = CELLS - 10  # nodes with at most this many plies check whether to stop
NODES_AFTER: Final = [2.6 ** (CELLS - plies) for plies in range(CELLS + 1)]  # if hard


@kernel(f"UniTuple(int64, 2)(int64, int64, int64, int64, {POINTER})")
def negamax(mine: int, theirs: int, plies: int, limit: int, work: Any) -> tuple[int, int]:
    """Return the exact score for the side to move (:class:`Solver`), and the nodes (calls).

    The position must not be won. The score is GAVE_UP after more than ``limit`` nodes, or once
    ``work[LIMIT]`` is negative.
    """
    if plies == CELLS:
        return 0, 1
    if winning_moves(mine, theirs):
        return win_score(plies + 1), 1
    if plies <= POLL_PLIES and work[LIMIT] < 0:
        return GAVE_UP, 1
    best = -CELLS
    nodes = 1
    for column in range(COLUMNS):
        cell = drop(mine | theirs, column)
        if cell:
            score, searched = negamax(theirs, mine | cell, plies + 1, limit - nodes, work)
            nodes += searched
            if score == GAVE_UP or nodes > limit:
                return GAVE_UP, nodes
            best = max(best, -score)
    return best, nodes


@kernel("UniTuple(int64, 2)(int64, int64, int64, int64, int64[::1])", nogil=True)
def solve(mine: int, theirs: int, plies: int, limit: int, work: Int64s) -> tuple[int, int]:
    """Call :func:`negamax` from Python."""
    return negamax(mine, theirs, plies, limit, pointer(work))


class Negamax(LineSearch):
    """Plays endings perfectly by negamax without pruning; ties go to the leftmost column.

    Args:
        max_nodes: positions to search before giving up with SearchLimit. A search from the opening
            would not end.
    """

    _repeats = True

    @validate_args
    def __init__(self, max_nodes: Positions = 1_000_000_000) -> None:
        self.max_nodes = max_nodes

    def score(self, position: Position) -> tuple[int, int]:
        """Return an unfinished position's exact score for the side to move, and the nodes searched.

        Raises:
            SearchLimit: the search needs more than ``max_nodes`` positions.
        """
        require_move(position)
        return self._score(position)

    def _score(self, position: Position) -> tuple[int, int]:
        score, nodes = self._solve(position)
        if score == GAVE_UP:
            raise SearchLimit(
                f"{position!r} has {CELLS - position.plies} empty cells: plain negamax gave up "
                f"after {self.max_nodes} positions (option max_nodes); it is for endings only"
            )
        return score, nodes

    def _solve(self, position: Position) -> tuple[int, int]:
        mine, theirs, plies = position.mine, position.theirs, position.plies
        most, nodes = self.max_nodes, NODES_AFTER[plies]
        return search_interruptibly(
            lambda work: solve(mine, theirs, plies, most, work), nodes if nodes < most else most
        )

    def _best(self, position: Position) -> tuple[int, float, int, int]:
        score, nodes = self._score(position)
        wins = winning_moves(position.mine, position.theirs)

        def keeps_score(column: int) -> bool:
            if wins:
                return drop(position.mine | position.theirs, column) & wins != 0
            return -self._solve(position.play(column))[0] == score

        column = next(filter(keeps_score, position.legal_columns()))
        return column, score, nodes, CELLS - position.plies

    def _reply(self, after: Position, ply: int) -> int:
        return self._best(after)[0]
