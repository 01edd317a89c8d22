"""Minimax and alpha-beta to a fixed depth, and the published systems that use them.

Sources: the chain system ("Connect 4 Simulator with Minimax"), whose baseline is naive minimax;
window systems A ("Design and Implementation of a Minimax Game-Playing Agent for Connect Four") and
B ("Implementation Report - Connect Four with Minimax AI").

Exact negamax without pruning: part 3 of "Solving Connect 4".

This search is only for endings: each further empty cell makes the tree several times larger. Later
parts of the report improve it, as ``c4env.agents.solver`` does.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final

from c4env.agents.search import threads
from c4env.arrays import Int64s
from c4env.errors import SearchLimit
from c4env.jit import kernel

from ...bitboard import CELLS, COLUMNS, drop, win_score, winning_moves
from ...position import Position
from ..base import SearchingAgent, SearchResult, line_of_play, require_move
from ..heuristics.names import WIN
from ..options import DEFAULT_HEURISTIC, HeuristicName, Plies, Positions, validate_args
from .fixed_depth import CHAIN_RULES, FixedDepth, Rules
from .lowlevel import CENTRE_FIRST, LEFT_TO_RIGHT, POINTER, pointer

WINDOW_RULES: Final = Rules(CENTRE_FIRST, CENTRE_FIRST, 1000.0, 1.0, evaluate_full=False)
# The report gives neither the order of columns nor the value of a win. Here the order is left to
# right, the first of equal columns is played, and a win is worth more than any heuristic value.
WINDOW_B_RULES: Final = Rules(LEFT_TO_RIGHT, LEFT_TO_RIGHT, WIN, 0.0, evaluate_full=False)


class AlphaBeta(FixedDepth):
    """Alpha-beta search with any heuristic; plays the same columns as ``minimax``."""

    @validate_args
    def __init__(self, depth: Plies = 7, heuristic: HeuristicName = DEFAULT_HEURISTIC) -> None:
        super().__init__(depth, heuristic)


class Minimax(FixedDepth):
    """Naive minimax with any heuristic; the defaults are the published settings."""

    quick: ClassVar[int] = 10**6

    @validate_args
    def __init__(self, depth: Plies = 7, heuristic: HeuristicName = DEFAULT_HEURISTIC) -> None:
        super().__init__(depth, heuristic, CHAIN_RULES._replace(prune=False))


class Chain(FixedDepth):
    """The alpha-beta search of the chain system ("Connect 4 Simulator with Minimax").

    Args:
        depth: plies looked ahead, the agent's own move included: the report's max_depth plus one.
    """

    @validate_args
    def __init__(self, depth: Plies = 7) -> None:
        super().__init__(depth, "chain")


class WindowA(FixedDepth):
    """Window system A, published at depths 3, 5 and 7: prefers quick wins and slow losses."""

    @validate_args
    def __init__(self, depth: Plies = 5) -> None:
        super().__init__(depth, "window", WINDOW_RULES)


class WindowB(FixedDepth):
    """Window system B, with the heuristic ``window-b``; its report gives no depth."""

    @validate_args
    def __init__(self, depth: Plies = 5) -> None:
        super().__init__(depth, "window-b", WINDOW_B_RULES)


GAVE_UP: Final = -1000  # in place of a score: the search reached its node limit
POLL_PLIES: Final = CELLS - 10  # nodes with at most this many plies check whether to stop
# From QUICK plies on, or with at most QUICK_NODES, a search takes less than a tenth of a second.
QUICK: Final = CELLS - 14
QUICK_NODES: Final = 1_000_000


@kernel(f"UniTuple(int64, 2)(int64, int64, int64, int64, {POINTER})")
def negamax(mine: int, theirs: int, plies: int, limit: int, work: Any) -> tuple[int, int]:
    """Return the exact score for the side to move (:class:`Solver`), and the nodes (calls).

    The position must not be won. The score is GAVE_UP after more than ``limit`` nodes, or once
    ``work[threads.STOPPED]`` is set.
    """
    if plies == CELLS:
        return 0, 1
    if winning_moves(mine, theirs):
        return win_score(plies + 1), 1
    if plies <= POLL_PLIES and work[threads.STOPPED]:
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


class Negamax(SearchingAgent):
    """Plays endings perfectly by negamax without pruning; ties go to the leftmost column.

    Args:
        max_nodes: positions to search before giving up with SearchLimit. A search from the opening
            would not end.
    """

    deterministic = True

    @validate_args
    def __init__(self, max_nodes: Positions = 1_000_000_000) -> None:
        self.max_nodes = max_nodes

    def score(self, position: Position) -> tuple[int, int]:
        """Return an unfinished position's exact score for the side to move, and the nodes searched.

        Raises:
            SearchLimit: the search needs more than ``max_nodes`` positions.
        """
        require_move(position)
        score, nodes = self._solve(position)
        if score == GAVE_UP:
            raise SearchLimit(
                f"{position!r} has {CELLS - position.plies} empty cells: plain negamax gave up "
                f"after {self.max_nodes} positions (option max_nodes); it is for endings only"
            )
        return score, nodes

    def _solve(self, position: Position) -> tuple[int, int]:
        asked = position.mine, position.theirs, position.plies, self.max_nodes
        quick = position.plies >= QUICK or self.max_nodes <= QUICK_NODES
        return threads.search_interruptibly(lambda work: solve(*asked, work), quick=quick)

    def _best(self, position: Position) -> tuple[int, float, int]:
        best, nodes = self.score(position)
        if winning := winning_moves(position.mine, position.theirs):
            columns = position.legal_columns()
            taken = position.mine | position.theirs
            return next(c for c in columns if drop(taken, c) & winning), best, nodes
        for column in position.legal_columns():
            child = position.play(column)
            if -self._solve(child)[0] == best:
                return column, best, nodes
        raise AssertionError("no column keeps the score of the position")

    def search(self, position: Position) -> SearchResult:
        """Return the column to play, its exact score, and a line of best play to the game's end."""
        column, value, nodes = self._best(position)
        line = line_of_play(position.play(column), lambda after, _: self._best(after)[0])
        return SearchResult(column, value, nodes, CELLS - position.plies, (column, *line))
