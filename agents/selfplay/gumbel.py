"""Gumbel MuZero's tree search, run on many positions at once; self-play trains on the results.

    output = GumbelSearch(evaluate, simulations=16)(boards, noise)  # columns, policies, values

The paper is Danihelka, Guez, Schrittwieser, Silver, "Policy improvement by planning with Gumbel",
2022. At the root the search samples columns without replacement by the Gumbel-top-k trick, and
divides simulations among them by sequential halving (section 3; Karnin, Koren, Somekh, "Almost
optimal exploration in multi-armed bandits", 2013). The improved policy is the softmax of logits
plus transformed completed Q-values (section 4), and is better than the network's policy even with
few simulations.

Three things differ from the paper. Nodes below the root select by PUCT, not by the rule of
section 5. The search plays forced moves without evaluating them. The search keeps proofs
(:mod:`c4env.agents.sampling.tree`).

In each simulation, the network evaluates the leaves of all searches in one batch.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from c4env.agents.base import require_count
from c4env.agents.sampling.descent import (
    LEAF,
    SEARCHES,
    TREES,
    Evaluate,
    complete_by_mixed_value,
    search,
)
from c4env.agents.sampling.tree import NODE, OPEN, SEARCH, best_child, expand, tactical_status
from c4env.arrays import Bools, Float64s, Int64s
from c4env.bitboard import COLUMNS, sign
from c4env.jit import kernel

HASH: Final = np.array([0x1E3779B97F4A7C15, 0x42B2AE3D27D4EB4F])  # odd factors that hash a board
EXPLORATION: Final = 1.5  # the ``c`` of PUCT below the root
FORCED_NODES: Final = 5  # nodes for forced moves that the tree reserves for each simulation


class PolicyOutput(NamedTuple):
    """The results of N searches."""

    columns: Int64s  #: [N] the columns to play
    policies: Float64s  #: [N, 7] the improved policies
    values: Float64s  #: [N] expected results for the side to move; nan if its move is forced
    proven: Bools  #: [N] True where the value is the result of perfect play


_output = (types.int64[::1], types.float64[:, ::1], types.float64[::1], types.boolean[::1])


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

    def __call__(self, boards: Int64s, noise: Float64s) -> PolicyOutput:
        """Search N unfinished positions.

        ``boards`` is int64 ``[N, 2]``, the side to move first. ``noise`` ``[N, 7]`` are standard
        Gumbel variables, or zeros to play the best column.
        """
        size = len(boards)
        trees = np.zeros((size, 1 + (COLUMNS + FORCED_NODES) * (self.simulations + 1)), NODE)
        trees["proof"][:, 0] = OPEN
        searches = np.zeros(size, SEARCH)
        searches["root"], searches["noise"] = boards, noise
        searches["used"], searches["left"] = 1, self.simulations + 1
        searches["exploration"], searches["follow"] = EXPLORATION, True
        expand_decided(trees, searches)
        leaves = np.zeros(size, LEAF)
        search(trees, searches, leaves, self._evaluate, self._considered, 1, logits=True)
        columns, proven = np.empty(size, np.int64), np.empty(size, np.bool_)
        output = PolicyOutput(columns, np.empty((size, COLUMNS)), np.empty(size), proven)
        conclude(trees, searches, *output)
        return output

    def _evaluate(self, boards: Int64s) -> tuple[Float64s, Float64s]:
        logits, values = self.evaluate(boards)
        return np.ascontiguousarray(logits, np.float64), np.ascontiguousarray(values, np.float64)


def considered_visits(considered: int, simulations: int) -> list[int]:
    """Return, for each simulation, the visit count of the root's children that it chooses among.

    The rounds have equal shares of the simulations. In a round every remaining one of the
    ``considered`` columns gets the same number of visits, and the better half remains.

    Example:
        considered_visits(4, 8) == [0, 0, 0, 0, 1, 1, 2, 2]
    """
    counts: list[int] = []
    visits, remaining = 0, max(considered, 1)
    rounds = max(1, math.ceil(math.log2(remaining)))
    while len(counts) < simulations:
        for _ in range(max(1, simulations // (rounds * remaining))):
            counts += [visits] * remaining
            visits += 1
        remaining = max(min(2, considered, remaining), remaining // 2)
    return counts[:simulations]


@kernel(types.void(TREES, SEARCHES), nogil=True)
def expand_decided(trees: NDArray[np.void], searches: NDArray[np.void]) -> None:
    """Expand the roots that leave no choice, and end their searches."""
    for i in range(len(trees)):
        mine, theirs = int(searches[i]["root"][0]), int(searches[i]["root"][1])
        cells = tactical_status(mine, theirs)[1]
        if cells & (cells - 1) == 0:
            searches[i]["used"] = expand(trees[i], 0, mine, theirs, 1)
            searches[i]["left"] = 0


@kernel(types.void(TREES, SEARCHES, *_output), nogil=True)
def conclude(
    trees: NDArray[np.void],
    searches: NDArray[np.void],
    columns: Int64s,
    policies: Float64s,
    expected: Float64s,
    proven: Bools,
) -> None:
    """Write the results of all searches to the fields of :class:`PolicyOutput`.

    Unless a result is proven, the column to play has the greatest sum of Gumbel variable and
    improved logit among the most visited columns.
    """
    for i in range(len(searches)):
        tree, noise = trees[i], searches[i]["noise"]
        scores, values = searches[i]["logits"][:], searches[i]["values"][:]
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


class EvaluationCache:
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
        """Return logits and values of boards, cached or from the function; see :data:`Evaluate`."""
        at = (boards @ HASH >> 32) % len(self._boards)
        new = (self._boards[at] != boards).any(axis=1)
        logits, values = self._logits[at], self._values[at]
        if new.any():
            logits[new], values[new] = self.evaluate(boards[new])
            at = at[new]
            self._boards[at] = boards[new]
            self._logits[at], self._values[at] = logits[new], values[new]
        return logits, values
