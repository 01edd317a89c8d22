"""Minimax to a fixed depth, with or without alpha-beta pruning, and published systems that use it.

The systems search the same tree, but differ in the order of columns and in the values of a win and
of a full board. :class:`Rules` holds these settings.

Sources: the chain system ("Connect 4 Simulator with Minimax"), whose baseline is naive minimax;
window systems A ("Design and Implementation of a Minimax Game-Playing Agent for Connect Four") and
B ("Implementation Report - Connect Four with Minimax AI").
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from math import inf
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
from numba import types

from c4env.agents.base import LineSearch, is_ours
from c4env.agents.heuristics.heuristic import (
    WIN,
    Callback,
    Heuristic,
    HeuristicFunction,
    PlainHeuristic,
)
from c4env.agents.making.options import DEFAULT_HEURISTIC, HeuristicName, Plies, validate_args
from c4env.agents.search.lowlevel import CENTRE_FIRST, LEFT_TO_RIGHT, column_at, pointer
from c4env.agents.search.threads import LIMIT, search_interruptibly
from c4env.arrays import Int64s
from c4env.bitboard import CELLS, COLUMN, COLUMNS, STRIDE, drop, has_won, playable
from c4env.jit import kernel
from c4env.position import Position

T = TypeVar("T")


class Rules(NamedTuple):
    """The settings in which the published searches differ below the root."""

    order: int  # packed; the order of columns
    win: float  # the value of a win; a loss has the negative
    bonus: float  # added for each ply of depth left when the game ends
    evaluate_full: bool  # a full board is worth its heuristic value; else 0
    prune: bool = True  # alpha-beta; else naive minimax


class Search(NamedTuple):
    """What every node of a search needs."""

    heuristic: HeuristicFunction
    work: Any  # a pointer to the words of ``c4env.agents.search.threads``
    rules: Rules


CHAIN_RULES: Final = Rules(CENTRE_FIRST, WIN, 0.0, evaluate_full=True)
WINDOW_RULES: Final = Rules(CENTRE_FIRST, 1000.0, 1.0, evaluate_full=False)
# The report of system B gives neither the order of columns nor the value of a win. Here the order
# is left to right, and a win is worth more than any heuristic value.
WINDOW_B_RULES: Final = Rules(LEFT_TO_RIGHT, WIN, 0.0, evaluate_full=False)

INFINITY: Final = 1e300  # greater than any value
INVALID: Final = -1  # the node count if a value is unusable or the search was stopped
POLL_DEPTH: Final = 4  # nodes with this much depth left, or more, check whether to stop
PRUNED: Final = 0.75  # a full search to this share of the depth has at least about as many nodes

_int64, _float64, _bool = types.int64, types.float64, types.boolean
_heuristic = types.FunctionType(_float64(_int64, _int64))
_rules = (_int64, _float64, _float64, _bool, _bool)
# Numba confuses named tuples of two boards, so Python passes the rules as a plain tuple.
_plain_rules = types.Tuple(_rules)
_search = types.NamedTuple(
    (_heuristic, types.CPointer(_int64), types.NamedTuple(_rules, Rules)), Search
)
_value = types.Tuple((_float64, _int64))
_words = types.int64[::1]


@kernel(_value(_int64, _int64, _bool, _heuristic))
def leaf(
    mine: int, theirs: int, searching: bool, heuristic: HeuristicFunction
) -> tuple[float, int]:
    """Return a leaf's value for the side to move, and 1; or INVALID if no search can use it."""
    value = heuristic(mine, theirs) if searching else -heuristic(theirs, mine)
    if -WIN < value < WIN:
        return value, 1
    return 0.0, INVALID


@kernel(_value(_int64, _int64, _int64, _float64, _float64, _bool, _search))
def minimax(
    mine: int,
    theirs: int,
    depth: int,
    alpha: float,
    beta: float,
    searching: bool,
    search: Search,
) -> tuple[float, int]:
    """Return the value for the side to move, and the number of nodes including this node.

    ``searching`` is True when the agent is to move. The heuristic always takes the agent's view,
    since a heuristic need not be antisymmetric. With pruning a value between alpha and beta is
    exact, and any other value is a bound (fail-soft). The number of nodes is INVALID if a heuristic
    value is unusable or ``work[LIMIT]`` is negative.
    """
    rules = search.rules
    if has_won(theirs):
        return -(rules.win + rules.bonus * depth), 1
    moves = playable(mine | theirs)
    if moves == 0 and not rules.evaluate_full:
        return 0.0, 1
    if depth == 0 or moves == 0:
        return leaf(mine, theirs, searching, search.heuristic)
    if depth >= POLL_DEPTH and search.work[LIMIT] < 0:
        return 0.0, INVALID
    best = -INFINITY
    nodes = 1
    for place in range(COLUMNS):
        cell = moves & (COLUMN << (STRIDE * column_at(rules.order, place)))
        if cell:
            value, searched = minimax(
                theirs, mine | cell, depth - 1, -beta, -alpha, not searching, search
            )
            if searched < 0:
                return 0.0, INVALID
            nodes += searched
            best = max(best, -value)
            if rules.prune:
                alpha = max(alpha, best)
                if alpha >= beta:
                    break
    return best, nodes


@kernel(
    types.Tuple((_int64, _float64, _int64))(
        *(_int64, _int64, _int64, _bool, _int64, _heuristic, _plain_rules, _words)
    ),
    nogil=True,
)
def best_column(
    mine: int,
    theirs: int,
    depth: int,
    searching: bool,
    order: int,
    heuristic: HeuristicFunction,
    rules: tuple[Any, ...],
    work: Int64s,
) -> tuple[int, float, int]:
    """Return the first best column in ``order``, its value for the side to move, and the nodes.

    Every column gets the full window, as in the published systems, so that node counts are
    comparable. The number of nodes can be INVALID, as in :func:`minimax`.
    """
    search = Search(heuristic, pointer(work), Rules(*rules))
    best, chosen, nodes = -INFINITY, -1, 0
    for place in range(COLUMNS):
        column = column_at(order, place)
        cell = drop(mine | theirs, column)
        if cell:
            value, searched = minimax(
                theirs, mine | cell, depth - 1, -INFINITY, INFINITY, not searching, search
            )
            if searched < 0:
                return -1, 0.0, INVALID
            nodes += searched
            if -value > best:
                best, chosen = -value, column
    return chosen, best, nodes


@kernel(
    types.void(
        *(types.int64[:, ::1], _int64, _int64, _heuristic, _plain_rules, _words, _words, _words)
    ),
    nogil=True,
)
def best_columns(
    boards: Int64s,
    depth: int,
    order: int,
    heuristic: HeuristicFunction,
    rules: tuple[Any, ...],
    columns: Int64s,
    nodes: Int64s,
    work: Int64s,
) -> None:
    """Write the best columns and the node counts ``[M]`` of boards ``[M, 2]``."""
    for i in range(len(boards)):
        if work[LIMIT] < 0:
            return
        columns[i], _, nodes[i] = best_column(
            int(boards[i, 0]), int(boards[i, 1]), depth, True, order, heuristic, rules, work
        )


@functools.cache
def nodes_at(depth: int, prune: bool) -> float:
    """Estimate the nodes of a search to a depth, with or without pruning."""
    return float(COLUMNS ** (PRUNED * depth if prune else depth))


def search_with(
    heuristic: Heuristic,
    search: Callable[[Any, Int64s], T],
    nodes: float,
    work: Int64s | None = None,
    seconds: float | None = None,
) -> T:
    """Run a search by :func:`search_interruptibly`, with the heuristic as a kernel takes it.

    An error in a user's heuristic ends the search, and reaches the caller. A Python function always
    has its own thread, because in a callback Ctrl-C would be lost between two Python instructions.
    """
    argument = heuristic.argument
    if isinstance(argument, PlainHeuristic):
        argument, nodes = Callback(argument), inf
    try:
        result = search_interruptibly(lambda work: search(argument, work), nodes, work, seconds)
    except Exception as error:
        raise heuristic.error(error) from error
    for raised in getattr(argument, "raised", ()):
        raise raised
    return result


class FixedDepth(LineSearch):
    """Searches a fixed number of plies with a heuristic at the leaves.

    By default, every heuristic plays by the rules of the chain system, so that heuristics are
    comparable and every kind of search chooses the same columns.
    """

    @validate_args
    def __init__(
        self,
        depth: Plies = 7,
        heuristic: HeuristicName = DEFAULT_HEURISTIC,
        rules: Rules = CHAIN_RULES,
        order: int = LEFT_TO_RIGHT,
    ) -> None:
        self.depth = depth
        self.rules = rules
        self.order = order  # of the columns at the root, packed; the first of equal columns is best
        self._heuristic = Heuristic.of(heuristic)

    @property
    def _repeats(self) -> bool:
        """Whether the same position always gets the same column."""
        return self._heuristic.deterministic

    @property
    def heuristic(self) -> str | HeuristicFunction:
        """The heuristic that the agent was made with."""
        return self._heuristic.given

    def _search(
        self, mine: int, theirs: int, depth: int, searching: bool, order: int
    ) -> tuple[int, float, int]:
        board, rules = (mine, theirs, depth, searching, order), tuple(self.rules)
        plies = min(depth, CELLS - (mine | theirs).bit_count())
        column, value, nodes = search_with(
            self._heuristic,
            lambda asked, work: best_column(*board, asked, rules, work),
            nodes_at(plies, self.rules.prune),
        )
        if nodes < 0:
            raise self._heuristic.error()
        return column, value + 0.0, nodes  # + 0.0: no negative zero

    def _best(self, position: Position) -> tuple[int, float, int, int]:
        depth = self.depth
        return *self._search(position.mine, position.theirs, depth, True, self.order), depth

    def _reply(self, after: Position, ply: int) -> int:
        left, searching = self.depth - 1 - ply, ply % 2 == 1
        return self._search(after.mine, after.theirs, left, searching, self.rules.order)[0]

    def choose_many(self, discs: Int64s, seeds: Int64s) -> Int64s:
        """Choose a column on each board; pruning changes no column, so ``minimax`` prunes here."""
        if not is_ours(self):
            return super().choose_many(discs, seeds)
        columns, nodes = np.empty((2, len(discs)), np.int64)
        rules = tuple(self.rules._replace(prune=True))
        settings = discs, self.depth, self.order
        search_with(
            self._heuristic,
            lambda asked, work: best_columns(*settings, asked, rules, columns, nodes, work),
            len(discs) * nodes_at(self.depth, prune=True),
        )
        if (nodes < 0).any():
            raise self._heuristic.error()
        self.nodes = int(nodes.sum())
        return columns


class AlphaBeta(FixedDepth):
    """Alpha-beta search with any heuristic; plays the same columns as ``minimax``."""

    @validate_args
    def __init__(self, depth: Plies = 7, heuristic: HeuristicName = DEFAULT_HEURISTIC) -> None:
        super().__init__(depth, heuristic)


class Minimax(FixedDepth):
    """Naive minimax with any heuristic; the defaults are the published settings."""

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
        super().__init__(depth, "window", WINDOW_RULES, CENTRE_FIRST)


class WindowB(FixedDepth):
    """Window system B, with the heuristic ``window-b``; its report gives no depth."""

    @validate_args
    def __init__(self, depth: Plies = 5) -> None:
        super().__init__(depth, "window-b", WINDOW_B_RULES)
