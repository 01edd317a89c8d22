"""Gumbel searches in many positions at once: what self-play learns from.

At the root columns are tried by sequential halving: of those with the greatest sum of logit and
Gumbel noise, half go on after each round, the better ones by their values. What comes out is a
policy better than the network's even when a search makes few simulations (Danihelka, Guez,
Schrittwieser, Silver, "Policy improvement by planning with Gumbel", 2022). Below the root children
are chosen as by PUCT, and proofs are kept (:mod:`agents.sampling.tree`). All searches ask about
their next leaf in one batch, which is how a network answers fastest.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
from numba import from_dtype, types
from numpy.typing import NDArray

from agents.base import require_count
from agents.sampling.puct import EXPLORATION, add_result, descend
from agents.sampling.tree import NODE, NODES, OPEN, best_child, expand
from c4env.arrays import Bools, Float64s, Int64s
from c4env.bitboard import CELLS, COLUMNS, drop, popcount
from c4env.jit import kernel

Evaluate = Callable[[Int64s], tuple[NDArray[Any], NDArray[Any]]]
"""From boards int64 ``[M, 2]``, the side to move first, to logits ``[M, 7]`` and values ``[M]``
from -1 to 1, the results expected for the sides to move."""

# A value counts in units of logits: (VISITS + visits of the most visited child) * SCALE.
VISITS: Final = 50.0
SCALE: Final = 0.1

TREES: Final[Any] = from_dtype(NODE)[:, ::1]
_int64 = types.int64
_words = types.int64[::1]
_rows = types.int64[:, ::1]
_floats = types.float64[::1]
_table = types.float64[:, ::1]


class Improved(NamedTuple):
    """What searches found in N positions."""

    columns: Int64s  # [N] to be played: drawn, as the noise was, from about the policy
    policies: Float64s  # [N, 7] shares of the columns, better than the network's
    values: Float64s  # [N] results expected for the sides to move; nan: no choice, not searched
    proven: Bools  # [N] whose value is the result under best play


@kernel(types.int64(TREES, _rows, _words, _words, _rows))
def plant(
    trees: NDArray[np.void], boards: Int64s, used: Int64s, asked: Int64s, paths: Int64s
) -> int:
    """Begin a tree in each position; the searches that need an evaluation, into ``asked``."""
    count = 0
    for i in range(len(boards)):
        tree = trees[i]
        tree[0]["total"] = 0.0
        tree[0]["visits"] = 0
        tree[0]["prior"] = 1.0
        tree[0]["column"] = -1
        tree[0]["proof"] = OPEN
        mine, theirs = int(boards[i, 0]), int(boards[i, 1])
        used[i] = expand(tree, 0, mine, theirs, popcount(mine | theirs), 1)
        paths[i, 0] = 0
        if tree[0]["proof"] == OPEN and tree[0]["children"] > 1:
            asked[count] = i
            count += 1
    return count


@kernel(types.void(NODES, types.float64, _floats, _floats))
def weigh(tree: NDArray[np.void], value: float, scores: Float64s, values: Float64s) -> None:
    """Write of each column what it scores, and what it is worth, as far as a search knows.

    Columns never tried are worth what the network's value of the root and the values of the
    others make likely.

    Args:
        tree: of the search.
        value: the network's, of the root.
        scores: [7], written to: logits of the improved policy, -inf without a child.
        values: [7], written to.
    """
    first = int(tree[0]["first"])
    end = first + int(tree[0]["children"])
    most = count = weight = total = 0.0
    for child in range(first, end):
        visits, proof = float(tree[child]["visits"]), int(tree[child]["proof"])
        most, count = max(most, visits), count + visits
        if proof != OPEN or visits > 0.0:
            known = float((proof > 0) - (proof < 0))
            if proof == OPEN:
                known = tree[child]["total"] / visits
            values[tree[child]["column"]] = known
            weight += tree[child]["prior"]
            total += tree[child]["prior"] * known
    mixed = (value + count * total / weight) / (1.0 + count) if weight > 0.0 else value
    scores[:] = -math.inf
    for child in range(first, end):
        column = tree[child]["column"]
        if tree[child]["proof"] == OPEN and tree[child]["visits"] == 0:
            values[column] = mixed
        logit = math.log(max(float(tree[child]["prior"]), 1e-9))
        scores[column] = logit + (VISITS + most) * SCALE * values[column]


@kernel(
    types.int64(
        *(TREES, _rows, _table, _floats, _words, _words, _words, _rows, _rows), types.float64
    )
)
def advance(
    trees: NDArray[np.void],
    boards: Int64s,
    noise: Float64s,
    root_values: Float64s,
    wanted: Int64s,
    asked: Int64s,
    depths: Int64s,
    paths: Int64s,
    leaves: Int64s,
    exploration: float,
) -> int:
    """One simulation in each search that is not decided, as far as it comes by itself.

    Args:
        trees: [N, nodes], planted.
        boards: [N, 2], the roots.
        noise: [N, 7].
        root_values: [N], the network's.
        wanted: [8], how often the child to try was tried before, by the number of children.
        asked, leaves: written to: searches that wait for an evaluation, and of which board.
        depths, paths: [N], [N, CELLS + 1], written to: where these leaves are.
        exploration: the ``c`` of PUCT below the root.

    Returns:
        how many wait.
    """
    scores, values = np.empty(COLUMNS), np.empty(COLUMNS)
    count = 0
    for i in range(len(boards)):
        tree = trees[i]
        children = int(tree[0]["children"])
        if tree[0]["proof"] != OPEN or children < 2:
            continue
        weigh(tree, root_values[i], scores, values)
        first = int(tree[0]["first"])
        chosen = first
        best = -math.inf
        for child in range(first, first + children):
            if tree[child]["proof"] == OPEN:
                column = tree[child]["column"]
                score = scores[column] + noise[i, column]
                if tree[child]["visits"] != wanted[children]:
                    score -= 1e6  # only if a proof took those whose turn it is
                if score > best:
                    chosen, best = child, score
        mine, theirs = int(boards[i, 0]), int(boards[i, 1])
        paths[i, 1] = chosen
        there = mine | drop(mine | theirs, int(tree[chosen]["column"]))
        depth, mine, theirs = descend(tree, paths[i], 1, theirs, there, exploration)
        proof = int(tree[paths[i, depth]]["proof"])
        if proof != OPEN:
            add_result(tree, paths[i], depth, 1, float((proof > 0) - (proof < 0)))
        else:
            asked[count], depths[i] = i, depth
            leaves[count, 0], leaves[count, 1] = mine, theirs
            count += 1
    return count


@kernel(types.void(*(TREES, _words, _words, _int64, _words, _rows, _rows, _table, _floats)))
def answer(
    trees: NDArray[np.void],
    used: Int64s,
    asked: Int64s,
    count: int,
    depths: Int64s,
    paths: Int64s,
    leaves: Int64s,
    logits: Float64s,
    values: Float64s,
) -> None:
    """End the simulations that waited for logits ``[count, 7]`` and values ``[count]``."""
    for k in range(count):
        i, depth = int(asked[k]), int(depths[asked[k]])
        tree, node = trees[i], int(paths[i, depth])
        if depth > 0:
            mine, theirs = int(leaves[k, 0]), int(leaves[k, 1])
            used[i] = expand(tree, node, mine, theirs, popcount(mine | theirs), int(used[i]))
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
        add_result(tree, paths[i], depth, 1, -values[k])


@kernel(types.void(TREES, _table, _floats, _words, _table, _floats, types.boolean[::1]))
def conclude(
    trees: NDArray[np.void],
    noise: Float64s,
    root_values: Float64s,
    columns: Int64s,
    policies: Float64s,
    expected: Float64s,
    proven: Bools,
) -> None:
    """Write what the searches found: the fields of :class:`Improved`."""
    scores, values = np.empty(COLUMNS), np.empty(COLUMNS)
    for i in range(len(columns)):
        tree = trees[i]
        first = int(tree[0]["first"])
        end = first + int(tree[0]["children"])
        policies[i] = 0.0
        proof = int(tree[0]["proof"])
        proven[i] = proof != OPEN
        worth = float((proof < 0) - (proof > 0))  # of the root, if it is proven
        if end == first + 1:
            columns[i] = tree[first]["column"]
            policies[i, columns[i]] = 1.0
            expected[i] = worth if proven[i] else math.nan
            continue
        weigh(tree, root_values[i], scores, values)
        most = 0
        for child in range(first, end):
            if tree[child]["proof"] == OPEN:
                most = max(most, int(tree[child]["visits"]))
        best = greatest = -math.inf
        for child in range(first, end):
            column = tree[child]["column"]
            if proven[i] and values[column] != worth:
                scores[column] = -math.inf  # gives away what was proven
            greatest = max(greatest, scores[column])
            score = scores[column] + noise[i, column]
            tried = tree[child]["proof"] == 0 or tree[child]["visits"] == most
            if tree[child]["proof"] >= 0 and tried and score > best:
                columns[i], best = column, score
        if proven[i]:
            columns[i] = tree[best_child(tree, 0)]["column"]
        total = expected[i] = 0.0
        for column in range(COLUMNS):
            if scores[column] > -math.inf:
                policies[i, column] = math.exp(scores[column] - greatest)
                total += policies[i, column]
        for column in range(COLUMNS):
            policies[i, column] /= total
            if policies[i, column] > 0.0:
                expected[i] += policies[i, column] * values[column]
        if proven[i]:
            expected[i] = worth


class GumbelSearch:
    """Searches that share the batches of one evaluating function.

    Args:
        evaluate: see :data:`Evaluate`.
        simulations: in each position.
        c: how much the policy counts below the root against values of -1 to 1.
    """

    def __init__(self, evaluate: Evaluate, simulations: int, c: float = EXPLORATION) -> None:
        self.evaluate = evaluate
        self.simulations = require_count("simulations", simulations, 1, 4096)
        self.c = c
        # Of few simulations each of four columns gets at least as many.
        tried = min(COLUMNS, max(2, simulations // 4))
        rounds = [halving(min(children, tried), simulations) for children in range(COLUMNS + 1)]
        self._wanted = np.array(rounds).T.copy()  # [simulations, 8]

    def __call__(self, boards: Int64s, noise: Float64s) -> Improved:
        """Search N positions that are not over.

        Args:
            boards: int64 ``[N, 2]``, the side to move first.
            noise: ``[N, 7]``, drawn from Gumbel's distribution; zeros for the best column.
        """
        size = len(boards)
        trees = np.empty((size, 1 + COLUMNS * (self.simulations + 1)), NODE)
        used, asked, depths = (np.zeros(size, np.int64) for _ in range(3))
        paths, leaves = np.empty((size, CELLS + 1), np.int64), np.empty((size, 2), np.int64)
        root_values = np.zeros(size)
        count = plant(trees, boards, used, asked, paths)
        logits, values = self._ask(boards[asked[:count]])
        root_values[asked[:count]] = values
        answer(trees, used, asked, count, depths, paths, leaves, logits, values)
        for wanted in self._wanted:
            count = advance(
                *(trees, boards, noise, root_values, wanted, asked, depths, paths, leaves, self.c)
            )
            logits, values = self._ask(leaves[:count])
            answer(trees, used, asked, count, depths, paths, leaves, logits, values)
        columns, proven = np.empty(size, np.int64), np.empty(size, np.bool_)
        found = Improved(columns, np.empty((size, COLUMNS)), np.empty(size), proven)
        conclude(trees, noise, root_values, *found)
        return found

    def _ask(self, boards: Int64s) -> tuple[Float64s, Float64s]:
        if not len(boards):
            return np.empty((0, COLUMNS)), np.empty(0)
        logits, values = (np.ascontiguousarray(a, np.float64) for a in self.evaluate(boards))
        return logits, values


def halving(columns: int, simulations: int) -> list[int]:
    """How often the child of each simulation was tried before, by sequential halving.

    The better half of the columns goes on after every round; rounds cost about the same.
    """
    found: list[int] = []
    visits, alive = 0, max(columns, 1)
    rounds = max(1, math.ceil(math.log2(alive)))
    while len(found) < simulations:
        for _ in range(max(1, simulations // (rounds * alive))):
            found += [visits] * alive
            visits += 1
        alive = max(min(2, columns), alive // 2)
    return found[:simulations]
