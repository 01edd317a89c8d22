"""Gumbel MuZero's search in many positions at once; self-play learns from its results.

The paper is Danihelka, Guez, Schrittwieser, Silver, "Policy improvement by planning with Gumbel",
2022. At the root the search samples columns without replacement by the Gumbel-top-k trick, and
shares simulations among them by sequential halving (section 3). The improved policy is the softmax
of logits plus transformed completed Q-values (section 4), and is better than the network's policy
even with few simulations.

Three things differ from the paper. Nodes below the root select by PUCT (the paper: section 5). The
search plays forced moves without asking the network. The search keeps proofs
(:mod:`c4env.agents.sampling.tree`).

All searches run in step, and the network evaluates the leaves of one simulation in one batch.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
from numba import from_dtype, types
from numpy.typing import NDArray

from c4env.agents.base import require_count
from c4env.agents.sampling.puct import descend, improve_logits
from c4env.agents.sampling.tree import NODE, OPEN, add_result, best_child, expand, sign
from c4env.arrays import Bools, Float64s, Int64s
from c4env.bitboard import CELLS, COLUMNS, drop
from c4env.jit import kernel

Evaluate = Callable[[Int64s], tuple[NDArray[Any], NDArray[Any]]]
"""From boards int64 ``[M, 2]``, the side to move first, to logits ``[M, 7]`` and values ``[M]``
from -1 to 1, the results expected for the side to move."""

SEARCH: Final = np.dtype(
    [
        ("root", np.int64, 2),  # bitboards, the side to move first
        ("leaf", np.int64, 2),  # bitboards of the leaf that waits for an evaluation
        ("depth", np.int64),  # depth of the leaf
        ("used", np.int64),  # nodes of the tree in use
        ("value", np.float64),  # the network's value of the root
        ("noise", np.float64, COLUMNS),  # the Gumbel variables of the columns
    ],
    align=True,
)
HASH: Final = np.array([0x1E3779B97F4A7C15, 0x42B2AE3D27D4EB4F])  # odd factors of a board's hash
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
    """The results of the searches of N positions."""

    columns: Int64s  # [N] the columns to play
    policies: Float64s  # [N, 7] the improved policies
    values: Float64s  # [N] expected results for the side to move; nan if the move is forced
    proven: Bools  # [N] True where the value is the result under best play


@kernel(_int64(TREES, SEARCHES, _rows, _words, _words), nogil=True)
def advance(
    trees: NDArray[np.void],
    searches: NDArray[np.void],
    paths: Int64s,
    considered: Int64s,
    asked: Int64s,
) -> int:
    """Run one simulation of each undecided search down to its leaf.

    The first simulation evaluates the root. A proven leaf needs no evaluation: its result goes up
    the path at once.

    Args:
        trees: [N, nodes].
        searches: [N] ``SEARCH``.
        paths: [N, CELLS + 1], written to: the nodes from each root to its leaf.
        considered: [8], the considered visits of this simulation by the root's number of children
            (see :func:`considered_visits`).
        asked: written to: the numbers of the searches whose leaf waits for an evaluation.

    Returns:
        the number of searches that wait.
    """
    scores, values = np.empty(COLUMNS), np.empty(COLUMNS)
    count = 0
    for i in range(len(searches)):
        tree, search = trees[i], searches[i]
        path, noise = paths[i], search["noise"]
        mine, theirs = int(search["root"][0]), int(search["root"][1])
        depth = 0
        begun = tree[0]["children"] > 0
        if not begun:
            search["used"] = expand(tree, 0, mine, theirs, 1)
        children = int(tree[0]["children"])
        if tree[0]["proof"] != OPEN or children < 2:
            continue
        if begun:
            improve_logits(tree, search["value"], scores, values)
            first = int(tree[0]["first"])
            chosen, best = first, -math.inf
            for child in range(first, first + children):
                if tree[child]["proof"] == OPEN:
                    column = tree[child]["column"]
                    score = scores[column] + noise[column]
                    if tree[child]["visits"] != considered[children]:
                        score -= 1e6  # the last resort, when the considered ones are proven
                    if score > best:
                        chosen, best = child, score
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
    """Expand the leaves of the M searches ``asked``, and back their values up.

    Args:
        trees, searches, paths: as :func:`advance` left them.
        asked: [M].
        logits: [M, 7], the network's.
        values: [M], the network's.
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
    """Write the fields of :class:`Improved`.

    The most visited column with the greatest Gumbel variable plus improved logit is played.
    """
    scores, values = np.empty(COLUMNS), np.zeros(COLUMNS)
    for i in range(len(searches)):
        tree, noise = trees[i], searches[i]["noise"]
        first = int(tree[0]["first"])
        end = first + int(tree[0]["children"])
        proof = int(tree[0]["proof"])
        worth = float(-sign(proof))  # the proven result for the side to move
        proven[i] = proof != OPEN
        improve_logits(tree, searches[i]["value"], scores, values)
        most = 0
        for child in range(first, end):
            if tree[child]["proof"] == OPEN:
                most = max(most, int(tree[child]["visits"]))
        best = greatest = -math.inf
        for child in range(first, end):
            column, proof = tree[child]["column"], int(tree[child]["proof"])
            if proven[i] and values[column] != worth:
                scores[column] = -math.inf  # it loses the proven result
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
    """A cache of an evaluation function's answers.

    Args:
        evaluate: the function.
        size: the slots of the cache; a new answer replaces the old answer in its slot.
    """

    def __init__(self, evaluate: Evaluate, size: int = 1 << 16) -> None:
        self.evaluate = evaluate
        self._boards = np.empty((size, 2), np.int64)
        self._logits = np.empty((size, COLUMNS), np.float32)
        self._values = np.empty(size, np.float32)
        self.clear()

    def clear(self) -> None:
        """Forget all answers."""
        self._boards[:] = -1

    def __call__(self, boards: Int64s) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """See :data:`Evaluate`."""
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
    """Searches of many positions that share one evaluation function.

    Args:
        evaluate: see :data:`Evaluate`.
        simulations: simulations in each position, besides the evaluation of its root.
    """

    def __init__(self, evaluate: Evaluate, simulations: int) -> None:
        self.evaluate = evaluate
        self.simulations = require_count("simulations", simulations, 1, 4096)
        sampled = min(COLUMNS, max(2, simulations // 4))  # columns that the root considers
        table = [
            considered_visits(min(children, sampled), simulations)
            for children in range(COLUMNS + 1)
        ]
        self._considered = np.array([[0] * (COLUMNS + 1), *zip(*table, strict=True)], np.int64)

    def __call__(self, boards: Int64s, noise: Float64s) -> Improved:
        """Search N positions that are not over.

        Args:
            boards: int64 ``[N, 2]``, the side to move first.
            noise: ``[N, 7]`` standard Gumbel variables; zeros to play the best column.
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


def considered_visits(columns: int, simulations: int) -> list[int]:
    """For each simulation, the visits that its child already has, by sequential halving.

    Simulations are shared out equally among the rounds. Each round visits every remaining column
    equally often, and the better half of them remains.

    Args:
        columns: number of columns that the root considers.
        simulations: the length of the result.
    """
    found: list[int] = []
    visits, remaining = 0, max(columns, 1)
    rounds = max(1, math.ceil(math.log2(remaining)))
    while len(found) < simulations:
        for _ in range(max(1, simulations // (rounds * remaining))):
            found += [visits] * remaining
            visits += 1
        remaining = max(min(2, columns, remaining), remaining // 2)
    return found[:simulations]
