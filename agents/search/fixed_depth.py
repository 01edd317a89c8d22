"""Minimax to a fixed depth, with or without alpha-beta pruning: the kernel and its agent.

The published systems search the same tree but differ in the order of columns and in the
values of a win and of a full board; :class:`Rules` holds these.
"""

from __future__ import annotations

import itertools
from math import log
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
from numba import types

from c4env.agents.search.threads import (
    STOPPED,
    UNWATCHED,
    WORDS,
    run_interruptibly,
    search_interruptibly,
)
from c4env.arrays import Int64s
from c4env.jit import kernel

from ...bitboard import CELLS, COLUMN, COLUMNS, STRIDE, drop, has_won, playable
from ...position import Position
from ..base import SearchingAgent, SearchResult, derived, line_of_play, require_move
from ..heuristics.names import WIN, Heuristic, as_argument, is_deterministic, load, not_a_value
from ..options import DEFAULT_HEURISTIC, HeuristicName, Plies, validate_args
from .lowlevel import CENTRE_FIRST, LEFT_TO_RIGHT, column_at, pointer


class Rules(NamedTuple):
    """The settings in which the published searches differ."""

    root_order: int  # packed; a later column wins only if strictly better
    inner_order: int  # packed, below the root
    win: float  # the value of a win; a loss has the negative
    bonus: float  # added for each ply of depth left when the game ends
    evaluate_full: bool  # a full board is worth its heuristic value; else 0
    prune: bool = True  # alpha-beta; else naive minimax


class Search(NamedTuple):
    """What every node of a search needs; the fields of :class:`Rules` but the first come last."""

    heuristic: Heuristic
    work: Any  # a pointer to the words of ``c4env.agents.search.threads``
    order: int
    win: float
    bonus: float
    evaluate_full: bool
    prune: bool


CHAIN_RULES: Final = Rules(LEFT_TO_RIGHT, CENTRE_FIRST, WIN, 0.0, evaluate_full=True)

_int64, _float64, _bool = types.int64, types.float64, types.boolean
_heuristic = types.FunctionType(_float64(_int64, _int64))
# Numba confuses named tuples of two boards, so Python passes the rules as a plain tuple.
_rules = types.Tuple((_int64, _int64, _float64, _float64, _bool, _bool))
_search = types.NamedTuple((_heuristic, types.CPointer(_int64), *_rules.types[1:]), Search)
_value = types.Tuple((_float64, _int64))
_words = types.int64[::1]

INFINITY: Final = 1e300  # greater than any value
INVALID: Final = -1  # the node count if a value is unusable or the search was stopped
POLL_DEPTH: Final = 4  # nodes with this much depth left, or more, check whether to stop
QUICK_LEAVES: Final = 10**6  # boards with at most this many leaves need no thread of their own


@kernel(_value(_int64, _int64, _bool, _heuristic))
def leaf(mine: int, theirs: int, searching: bool, heuristic: Heuristic) -> tuple[float, int]:
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
    value is unusable or ``work[STOPPED]`` is set.
    """
    if has_won(theirs):
        return -(search.win + search.bonus * depth), 1
    moves = playable(mine | theirs)
    if moves == 0 and not search.evaluate_full:
        return 0.0, 1
    if depth == 0 or moves == 0:
        return leaf(mine, theirs, searching, search.heuristic)
    if depth >= POLL_DEPTH and search.work[STOPPED]:
        return 0.0, INVALID
    best = -INFINITY
    nodes = 1
    for place in range(COLUMNS):
        cell = moves & (COLUMN << (STRIDE * column_at(search.order, place)))
        if cell:
            value, searched = minimax(
                theirs, mine | cell, depth - 1, -beta, -alpha, not searching, search
            )
            if searched < 0:
                return 0.0, INVALID
            nodes += searched
            best = max(best, -value)
            if search.prune:
                alpha = max(alpha, best)
                if alpha >= beta:
                    break
    return best, nodes


@kernel(
    types.Tuple((_int64, _float64, _int64))(
        *(_int64, _int64, _int64, _bool, _heuristic, _rules, _words)
    ),
    nogil=True,
)
def best_column(
    mine: int,
    theirs: int,
    depth: int,
    searching: bool,
    heuristic: Heuristic,
    rules: tuple[Any, ...],
    work: Int64s,
) -> tuple[int, float, int]:
    """Return the first best column, its value for the side to move, and the nodes.

    Every column gets the full window, as in the published systems, so that node counts are
    comparable. The number of nodes is INVALID as of :func:`minimax`.
    """
    search = Search(heuristic, pointer(work), *rules[1:])
    best, chosen, nodes = -INFINITY, -1, 0
    for place in range(COLUMNS):
        column = column_at(rules[0], place)
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
    types.void(types.int64[:, ::1], _int64, _heuristic, _rules, _words, _words, _words), nogil=True
)
def best_columns(
    boards: Int64s,
    depth: int,
    heuristic: Heuristic,
    rules: tuple[Any, ...],
    columns: Int64s,
    nodes: Int64s,
    work: Int64s,
) -> None:
    """Write the best columns and the node counts ``[M]`` of boards ``[M, 2]``."""
    for i in range(len(boards)):
        if work[STOPPED]:
            return
        mine, theirs = int(boards[i, 0]), int(boards[i, 1])
        columns[i], _, nodes[i] = best_column(mine, theirs, depth, True, heuristic, rules, work)


class FixedDepth(SearchingAgent):
    """Searches a fixed number of plies with a heuristic at the leaves.

    The default rules are those of the chain system for every heuristic, so that heuristics are
    comparable and every kind of search chooses the same columns.
    """

    quick: ClassVar[int] = 10**8
    """The number of unpruned lines of play above which a search runs in its own thread; shorter
    searches take some hundredths of a second."""
    deterministic = derived(lambda agent: agent._repeats)

    @validate_args
    def __init__(
        self,
        depth: Plies = 7,
        heuristic: HeuristicName = DEFAULT_HEURISTIC,
        rules: Rules = CHAIN_RULES,
    ) -> None:
        self.depth = depth
        self._quick = int(log(self.quick, COLUMNS))  # plies
        self.rules = rules
        self.threads = 1  # that share the boards of choose_many
        self.heuristic = heuristic
        function = load(heuristic)
        self._heuristic = as_argument(function)
        self._repeats = is_deterministic(function)

    def _ask(
        self, mine: int, theirs: int, depth: int, searching: bool, rules: Rules
    ) -> tuple[int, float, int]:
        how = depth, searching, self._heuristic, tuple(rules)
        quick = depth <= self._quick or CELLS - (mine | theirs).bit_count() <= self._quick
        column, value, nodes = search_interruptibly(
            lambda work: best_column(mine, theirs, *how, work),
            quick=quick,
        )
        if nodes < 0:
            raise not_a_value(self.heuristic)
        return column, value + 0.0, nodes  # + 0.0: no negative zero

    def _best(self, position: Position) -> tuple[int, float, int]:
        require_move(position)
        mine, theirs = position.mine, position.theirs
        return self._ask(mine, theirs, self.depth, True, self.rules)

    def choose_many(self, discs: Int64s, seeds: Int64s) -> Int64s:
        """Choose a column on each board; pruning changes no column, so ``minimax`` prunes here."""
        columns, nodes = np.empty((2, len(discs)), np.int64)
        how = self.depth, self._heuristic, tuple(self.rules._replace(prune=True))

        def task(work: Int64s) -> None:
            span = slice(*spans.pop())
            best_columns(discs[span], *how, columns[span], nodes[span], work)

        parts = max(1, min(self.threads, len(discs)))
        edges = [len(discs) * part // parts for part in range(parts + 1)]
        spans = list(itertools.pairwise(edges))
        if len(spans) == 1 and len(discs) * COLUMNS**self.depth <= QUICK_LEAVES:
            task(UNWATCHED)
        else:
            workspaces = [np.zeros(WORDS, np.int64) for _ in spans]
            run_interruptibly(task, workspaces)
        if (nodes < 0).any():
            raise not_a_value(self.heuristic)
        self.nodes = int(nodes.sum())
        return columns

    def search(self, position: Position) -> SearchResult:
        """Return the chosen column, its value and the principal variation.

        Each later move of the principal variation takes another search, which ``nodes`` omits.
        """
        column, value, nodes = self._best(position)
        left, rules = self.depth - 1, self.rules._replace(root_order=self.rules.inner_order)

        def reply(after: Position, ply: int) -> int:
            return self._ask(after.mine, after.theirs, left - ply, ply % 2 == 1, rules)[0]

        line = line_of_play(position.play(column), reply, left)
        return SearchResult(column, value, nodes, self.depth, (column, *line))
