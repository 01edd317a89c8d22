"""Gumbel MuZero's tree search, run on many positions at once; self-play trains on the results.

The paper is Danihelka, Guez, Schrittwieser, Silver, "Policy improvement by planning with Gumbel",
2022. At the root the search samples columns without replacement by the Gumbel-top-k trick, and
divides simulations among them by sequential halving (section 3). The improved policy is the softmax
of logits plus transformed completed Q-values (section 4). It is better than the network's policy
even with few simulations.

Three things differ from the paper. Nodes below the root select by PUCT, not by the rule of
section 5. The search plays forced moves without evaluating them. The search keeps proofs
(:mod:`c4env.agents.sampling.tree`).

In each simulation, the network evaluates the leaves of all searches in one batch.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
from numba import from_dtype, types
from numpy.typing import NDArray

from c4env.agents.base import require_count
from c4env.agents.sampling.puct import descend
from c4env.agents.sampling.qtransforms import complete_by_mixed_value
from c4env.agents.sampling.sequential_halving import considered_visits
from c4env.agents.sampling.tree import NODE, NODE_ARRAY, OPEN, add_result, best_child, expand, sign
from c4env.arrays import Bools, Float64s, Int64s
from c4env.bitboard import CELLS, COLUMNS, drop
from c4env.jit import kernel

Evaluate = Callable[[Int64s], tuple[NDArray[Any], NDArray[Any]]]
"""A function from boards, int64 ``[M, 2]`` with the side to move first, to logits ``[M, 7]`` and
expected results for the side to move, ``[M]`` from -1 to 1."""

SEARCH: Final = np.dtype(
    [
        ("root", np.int64, 2),  # bitboards, the side to move first
        ("leaf", np.int64, 2),  # bitboards of the leaf to evaluate
        ("depth", np.int64),  # depth of the leaf
        ("used", np.int64),  # number of nodes in use
        ("value", np.float64),  # the network's value of the root
        ("noise", np.float64, COLUMNS),  # the Gumbel variables of the columns
    ],
    align=True,
)
HASH: Final = np.array([0x1E3779B97F4A7C15, 0x42B2AE3D27D4EB4F])  # odd factors that hash a board
EXPLORATION: Final = 1.5  # the ``c`` of PUCT below the root
FORCED: Final = 5  # nodes for forced moves that the tree reserves for each simulation
TREES: Final[Any] = from_dtype(NODE)[:, ::1]
SEARCHES: Final[Any] = from_dtype(SEARCH)[::1]
_int64 = types.int64
_words = types.int64[::1]
_rows = types.int64[:, ::1]
_floats = types.float64[::1]
_table = types.float64[:, ::1]


class Improved(NamedTuple):
    """The results of N searches."""

    columns: Int64s  # [N] the columns to play
    policies: Float64s  # [N, 7] the improved policies
    values: Float64s  # [N] expected results for the side to move; nan if its move is forced
    proven: Bools  # [N] True where the value is the result of perfect play


@kernel(_int64(NODE_ARRAY, SEARCHES, _int64, _floats, _int64))
def select_at_root(
    tree: NDArray[np.void], searches: NDArray[np.void], i: int, logits: Float64s, considered: int
) -> int:
    """Return the child of search i's root with the greatest sum of Gumbel variable and logit.

    Children with ``considered`` visits come before others (section 3.2).
    """
    noise = searches[i]["noise"]
    first = int(tree[0]["first"])
    chosen, best = first, -math.inf
    for child in range(first, first + int(tree[0]["children"])):
        if tree[child]["proof"] == OPEN:
            column = tree[child]["column"]
            score = logits[column] + noise[column]
            if tree[child]["visits"] != considered:
                score -= 1e6
            if score > best:
                chosen, best = child, score
    return chosen


@kernel(_int64(TREES, SEARCHES, _rows, _words, _words), nogil=True)
def advance(
    trees: NDArray[np.void],
    searches: NDArray[np.void],
    paths: Int64s,
    considered: Int64s,
    asked: Int64s,
) -> int:
    """Run one simulation of each undecided search; return how many leaves need an evaluation.

    The first simulation evaluates the root. The result of a proven leaf is backed up at once.
    ``paths`` ``[N, CELLS + 1]`` gets the nodes from each root to its leaf, and ``asked`` the
    indices of the searches whose leaves need an evaluation. ``considered[n]`` is for a root with n
    children: the visits that a child must have to be chosen (:mod:`sequential_halving`).
    """
    scores, values = np.empty(COLUMNS), np.empty(COLUMNS)
    count = 0
    for i in range(len(searches)):
        tree, search = trees[i], searches[i]
        path = paths[i]
        mine, theirs = int(search["root"][0]), int(search["root"][1])
        depth = 0
        begun = tree[0]["children"] > 0
        if not begun:
            search["used"] = expand(tree, 0, mine, theirs, 1)
        children = int(tree[0]["children"])
        if tree[0]["proof"] != OPEN or children < 2:
            continue
        if begun:
            complete_by_mixed_value(tree, search["value"], scores, values)
            chosen = select_at_root(tree, searches, i, scores, int(considered[children]))
            path[1] = chosen
            there = mine | drop(mine | theirs, int(tree[chosen]["column"]))
            depth, mine, theirs, search["used"] = descend(
                tree, path, 1, theirs, there, EXPLORATION, int(search["used"])
            )
        proof = int(tree[path[depth]]["proof"])
        if proof != OPEN:
            add_result(tree, path, depth, 1, float(sign(proof)))
        else:
            search["depth"] = depth
            search["leaf"][0], search["leaf"][1] = mine, theirs
            asked[count] = i
            count += 1
    return count


@kernel(types.void(TREES, SEARCHES, _rows, _words, _table, _floats), nogil=True)
def answer(
    trees: NDArray[np.void],
    searches: NDArray[np.void],
    paths: Int64s,
    asked: Int64s,
    logits: Float64s,
    values: Float64s,
) -> None:
    """Expand the leaves of the M searches ``asked`` and back their values up.

    ``logits`` ``[M, 7]`` and ``values`` ``[M]`` come from the network.
    """
    for k in range(len(asked)):
        tree, search = trees[asked[k]], searches[asked[k]]
        path, depth = paths[asked[k]], int(search["depth"])
        node = path[depth]
        if depth > 0:
            mine, theirs = int(search["leaf"][0]), int(search["leaf"][1])
            if search["used"] + COLUMNS <= len(tree):
                search["used"] = expand(tree, node, mine, theirs, int(search["used"]))
        else:
            search["value"] = values[k]
        first = int(tree[node]["first"])
        end = first + int(tree[node]["children"])
        most = -math.inf
        for child in range(first, end):
            most = max(most, logits[k, tree[child]["column"]])
        total = 0.0
        for child in range(first, end):
            total += math.exp(logits[k, tree[child]["column"]] - most)
        for child in range(first, end):
            tree[child]["prior"] = math.exp(logits[k, tree[child]["column"]] - most) / total
        add_result(tree, path, depth, 1, -values[k])


@kernel(types.void(TREES, SEARCHES, _words, _table, _floats, types.boolean[::1]), nogil=True)
def conclude(
    trees: NDArray[np.void],
    searches: NDArray[np.void],
    columns: Int64s,
    policies: Float64s,
    expected: Float64s,
    proven: Bools,
) -> None:
    """Write the results of all searches to the fields of :class:`Improved`.

    Unless a result is proven, the column to play has the greatest sum of Gumbel variable and
    improved logit among the most visited columns.
    """
    scores, values = np.empty(COLUMNS), np.zeros(COLUMNS)
    for i in range(len(searches)):
        tree, noise = trees[i], searches[i]["noise"]
        first = int(tree[0]["first"])
        end = first + int(tree[0]["children"])
        proof = int(tree[0]["proof"])
        worth = float(-sign(proof))  # the proven result for the side to move
        proven[i] = proof != OPEN
        complete_by_mixed_value(tree, searches[i]["value"], scores, values)
        most = 0
        for child in range(first, end):
            if tree[child]["proof"] == OPEN:
                most = max(most, int(tree[child]["visits"]))
        best = greatest = -math.inf
        for child in range(first, end):
            column, proof = tree[child]["column"], int(tree[child]["proof"])
            if proven[i] and values[column] != worth:
                scores[column] = -math.inf  # this column gives up the proven result
            greatest = max(greatest, scores[column])
            score = scores[column] + noise[column]
            tried = proof == 0 or (proof == OPEN and tree[child]["visits"] == most)
            if tried and score > best:
                columns[i], best = column, score
        if proven[i]:
            columns[i] = tree[best_child(tree, 0)]["column"]
        total = expected[i] = 0.0
        for column in range(COLUMNS):
            policies[i, column] = math.exp(scores[column] - greatest)
            total += policies[i, column]
        for column in range(COLUMNS):
            policies[i, column] /= total
            expected[i] += policies[i, column] * values[column]
        if proven[i] or end == first + 1:
            expected[i] = worth if proven[i] else math.nan


class Remembered:
    """A cache of ``size`` slots for an evaluation function."""

    def __init__(self, evaluate: Evaluate, size: int = 1 << 16) -> None:
        self.evaluate = evaluate
        self._boards = np.empty((size, 2), np.int64)
        self._logits = np.empty((size, COLUMNS), np.float32)
        self._values = np.empty(size, np.float32)
        self.clear()

    def clear(self) -> None:
        """Empty the cache."""
        self._boards[:] = -1

    def __call__(self, boards: Int64s) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return evaluations of boards (see :data:`Evaluate`), cached or from the function."""
        at = (boards @ HASH >> 32) % len(self._boards)
        new = (self._boards[at] != boards).any(axis=1)
        logits, values = self._logits[at], self._values[at]
        if new.any():
            logits[new], values[new] = self.evaluate(boards[new])
            at = at[new]
            self._boards[at] = boards[new]
            self._logits[at], self._values[at] = logits[new], values[new]
        return logits, values


class GumbelSearch:
    """Searches many positions with one evaluation function.

    ``simulations`` are for each position, besides the evaluation of the root.
    """

    def __init__(self, evaluate: Evaluate, simulations: int) -> None:
        self.evaluate = evaluate
        self.simulations = require_count("simulations", simulations, 1, 4096)
        sampled = min(COLUMNS, max(2, simulations // 4))  # columns that the root considers
        # A row for each simulation, with an entry for each number of the root's children. The
        # first row is for the evaluation of the root, which chooses no child.
        visits = [considered_visits(min(n, sampled), simulations) for n in range(COLUMNS + 1)]
        self._considered = np.array([[0, *counts] for counts in visits], np.int64).T.copy()

    def __call__(self, boards: Int64s, noise: Float64s) -> Improved:
        """Search N unfinished positions.

        ``boards`` is int64 ``[N, 2]``, the side to move first. ``noise`` ``[N, 7]`` are standard
        Gumbel variables, or zeros to play the best column.
        """
        size = len(boards)
        trees = np.zeros((size, 1 + (COLUMNS + FORCED) * (self.simulations + 1)), NODE)
        trees["proof"][:, 0] = OPEN
        searches = np.zeros(size, SEARCH)
        searches["root"], searches["noise"] = boards, noise
        paths, waiting = np.zeros((size, CELLS + 1), np.int64), np.empty(size, np.int64)
        for considered in self._considered:
            asked = waiting[: advance(trees, searches, paths, considered, waiting)]
            if len(asked):
                found = self.evaluate(np.ascontiguousarray(searches["leaf"][asked]))
                logits, values = (np.ascontiguousarray(part, np.float64) for part in found)
                answer(trees, searches, paths, asked, logits, values)
        columns, proven = np.empty(size, np.int64), np.empty(size, np.bool_)
        improved = Improved(columns, np.empty((size, COLUMNS)), np.empty(size), proven)
        conclude(trees, searches, *improved)
        return improved
