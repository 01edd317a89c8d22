"""Gumbel searches in many positions at once: what self-play learns from.

At the root columns are tried by sequential halving: of those with the greatest sum of logit and
Gumbel noise, half go on after each round, the better ones by their values. What comes out is a
policy better than the network's even when a search makes few simulations (Danihelka, Guez,
Schrittwieser, Silver, "Policy improvement by planning with Gumbel", 2022). Below the root children
are chosen as by PUCT, forced moves are made without asking, and proofs are kept
(:mod:`c4env.agents.sampling.tree`). All searches ask about
their next leaf in one batch, which is how a network answers fastest.
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
from -1 to 1, the results expected for the sides to move."""

SEARCH: Final = np.dtype(
    [
        ("root", np.int64, 2),  # bitboards, the side to move first
        ("leaf", np.int64, 2),  # of the leaf that waits for an evaluation
        ("depth", np.int64),  # of the leaf
        ("used", np.int64),  # nodes of the tree in use
        ("value", np.float64),  # the network's, of the root
        ("noise", np.float64, COLUMNS),
    ],
    align=True,
)
MIXED: Final = np.array([0x1E3779B97F4A7C15, 0x42B2AE3D27D4EB4F])  # odd: a board times them spreads
EXPLORATION: Final = 1.5  # the ``c`` of PUCT below the root
FORCED: Final = 5  # nodes of forced moves that a simulation has room for, on the average
TREES: Final[Any] = from_dtype(NODE)[:, ::1]
SEARCHES: Final[Any] = from_dtype(SEARCH)[::1]
_int64 = types.int64
_words = types.int64[::1]
_rows = types.int64[:, ::1]
_floats = types.float64[::1]
_table = types.float64[:, ::1]


class Improved(NamedTuple):
    """What searches found in N positions."""

    columns: Int64s  # [N] to play: drawn from about the policy, by means of the noise
    policies: Float64s  # [N, 7] shares of the columns, better than the network's
    values: Float64s  # [N] results expected for the sides to move; nan: no choice, not searched
    proven: Bools  # [N] whose value is the result under best play


@kernel(_int64(TREES, SEARCHES, _rows, _words, _words), nogil=True)
def advance(
    trees: NDArray[np.void],
    searches: NDArray[np.void],
    paths: Int64s,
    wanted: Int64s,
    asked: Int64s,
) -> int:
    """One simulation in each search that is not decided, as far as it comes by itself.

    The first one is the root's. Returns how many wait for an evaluation.

    Args:
        trees: [N, nodes].
        searches: [N] ``SEARCH``.
        paths: [N, CELLS + 1], written to: the nodes from each root to its leaf.
        wanted: [8], how often the child to try was tried before, by the number of children.
        asked: written to: which searches wait.
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
                    if tree[child]["visits"] != wanted[children]:
                        score -= 1e6  # only if proofs took those whose turn it is
                    if score > best:
                        chosen, best = child, score
            path[1] = chosen
            there = mine | drop(mine | theirs, int(tree[chosen]["column"]))
            depth, mine, theirs, search["used"] = descend(
                *(tree, path, 1, theirs, there, EXPLORATION, int(search["used"]))
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
    """End the simulations of the M searches ``asked`` with logits ``[M, 7]`` and values ``[M]``."""
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
    """Write what the searches found: the fields of :class:`Improved`."""
    scores, values = np.empty(COLUMNS), np.zeros(COLUMNS)
    for i in range(len(searches)):
        tree, noise = trees[i], searches[i]["noise"]
        first = int(tree[0]["first"])
        end = first + int(tree[0]["children"])
        proof = int(tree[0]["proof"])
        worth = float(-sign(proof))  # of the root, if it is proven
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
                scores[column] = -math.inf  # gives away what was proven
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
    """An evaluating function whose answers are kept, for positions that come again.

    Args:
        evaluate: it.
        size: answers kept at most; a later one may take the place of an earlier one.
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
        at = (boards @ MIXED >> 32) % len(self._boards)
        new = (self._boards[at] != boards).any(axis=1)
        logits, values = self._logits[at], self._values[at]
        if new.any():
            logits[new], values[new] = self.evaluate(boards[new])
            at = at[new]
            self._boards[at] = boards[new]
            self._logits[at], self._values[at] = logits[new], values[new]
        return logits, values


class GumbelSearch:
    """Searches that share the batches of one evaluating function.

    Args:
        evaluate: see :data:`Evaluate`.
        simulations: in each position, after the evaluation of the position itself.
    """

    def __init__(self, evaluate: Evaluate, simulations: int) -> None:
        self.evaluate = evaluate
        self.simulations = require_count("simulations", simulations, 1, 4096)
        tried = min(COLUMNS, max(2, simulations // 4))  # columns that get a first simulation
        rounds = [halving(min(children, tried), simulations) for children in range(COLUMNS + 1)]
        self._wanted = np.array([[0] * (COLUMNS + 1), *zip(*rounds, strict=True)], np.int64)

    def __call__(self, boards: Int64s, noise: Float64s) -> Improved:
        """Search N positions that are not over.

        Args:
            boards: int64 ``[N, 2]``, the side to move first.
            noise: ``[N, 7]``, drawn from Gumbel's distribution; zeros for the best column.
        """
        size = len(boards)
        trees = np.zeros((size, 1 + (COLUMNS + FORCED) * (self.simulations + 1)), NODE)
        trees["proof"][:, 0] = OPEN
        searches = np.zeros(size, SEARCH)
        searches["root"], searches["noise"] = boards, noise
        paths, waiting = np.zeros((size, CELLS + 1), np.int64), np.empty(size, np.int64)
        for wanted in self._wanted:
            asked = waiting[: advance(trees, searches, paths, wanted, waiting)]
            if len(asked):
                found = self.evaluate(np.ascontiguousarray(searches["leaf"][asked]))
                logits, values = (np.ascontiguousarray(part, np.float64) for part in found)
                answer(trees, searches, paths, asked, logits, values)
        columns, proven = np.empty(size, np.int64), np.empty(size, np.bool_)
        improved = Improved(columns, np.empty((size, COLUMNS)), np.empty(size), proven)
        conclude(trees, searches, *improved)
        return improved


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
        alive = max(min(2, columns, alive), alive // 2)
    return found[:simulations]
