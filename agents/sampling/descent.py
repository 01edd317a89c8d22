"""The batched tree search: leaves of one tree, or of many trees, share each evaluation.

    while waiting := select_leaves(...):  # simulations descend, and their leaves wait
        policies, values = evaluate(...)  # of all boards in one batch
        expand_leaves(...)  # priors for the children, values for the path

A leaf that waits counts as a loss for the side that moves into the leaf (a *virtual loss*), so that
the tree's next descent takes another path.

The functions have the names that ``mctx`` gives them. The root of a Gumbel search selects as in
Danihelka, Guez, Schrittwieser, Silver, "Policy improvement by planning with Gumbel", 2022; all
other nodes select by PUCT. The *qtransform* :func:`complete_by_mixed_value`, which turns the values
of the root's children into an improved policy, is from the same paper.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numba import from_dtype, types
from numpy.typing import NDArray

from c4env.agents.sampling.tree import (
    NODE,
    NODE_ARRAY,
    OPEN,
    SEARCH_RECORD,
    back_up,
    expand,
    prove_leaf,
)
from c4env.arrays import Float64s, Int64s
from c4env.bitboard import CELLS, COLUMNS, drop, sign
from c4env.jit import kernel

Evaluate = Callable[[Int64s], tuple[Any, Any]]
"""A function from boards, int64 ``[M, 2]`` with the side to move first, to a policy ``[M, 7]`` and
expected results for the side to move, ``[M]`` from -1 to 1."""

LEAF: Final = np.dtype(
    [
        ("tree", np.int64),  # index of the leaf's tree
        ("depth", np.int64),
        ("board", np.int64, 2),  # bitboards, the side to move first
        ("path", np.int64, CELLS + 1),  # the nodes from the root to the leaf
    ],
    align=True,
)
PENDING: Final = -1  # ``first`` of a leaf that waits for its evaluation
PUCT_ROOT: Final = np.zeros((0, COLUMNS + 1), np.int64)  # no visits to consider: PUCT at the root

# The monotone transformation of Q-values in section 5: (c_visit + max_b N(b)) * c_scale * q.
C_VISIT: Final = 50.0
C_SCALE: Final = 0.1

TREES: Final[Any] = from_dtype(NODE)[:, ::1]
SEARCHES: Final[Any] = SEARCH_RECORD[::1]
_LEAF: Final[Any] = from_dtype(LEAF)
LEAVES: Final[Any] = _LEAF[::1]
_int64, _float64 = types.int64, types.float64
_words, _rows = types.int64[::1], types.int64[:, ::1]
_floats = types.float64[::1]


@kernel(types.void(NODE_ARRAY, _float64, _floats, _floats))
def complete_by_mixed_value(
    tree: NDArray[np.void], value: float, logits: Float64s, values: Float64s
) -> None:
    """Write the completed Q-values and the logits of the improved policy to ``[7]`` each.

    A column without visits gets the mixed value of the root: a mean of the network's ``value``, for
    the side to move, and the prior-weighted mean of the visited columns' values (section 4 and
    appendix D). Proven columns count by their results. A column without a child has the logit -inf.
    """
    first = int(tree[0]["first"])
    end = first + int(tree[0]["children"])
    most = count = weight = total = 0.0
    for child in range(first, end):
        visits, proof = float(tree[child]["visits"]), int(tree[child]["proof"])
        most, count = max(most, visits), count + visits
        if proof != OPEN or visits > 0.0:
            result = tree[child]["total"] / visits if proof == OPEN else float(sign(proof))
            values[tree[child]["column"]] = result
            weight += tree[child]["prior"]
            total += tree[child]["prior"] * result
    mixed = (value + count * total / weight) / (1.0 + count) if weight > 0.0 else value
    logits[:] = -math.inf
    for child in range(first, end):
        column = tree[child]["column"]
        if tree[child]["proof"] == OPEN and tree[child]["visits"] == 0:
            values[column] = mixed
        logit = math.log(max(float(tree[child]["prior"]), 1e-9))
        logits[column] = logit + (C_VISIT + most) * C_SCALE * values[column]


@kernel(_int64(NODE_ARRAY, _int64, _float64))
def puct_action_selection(tree: NDArray[np.void], node: int, exploration: float) -> int:
    """Return the child of an undecided node with the greatest value plus exploration bonus.

    An unvisited child has the value of the node itself. Proven losses are never selected.
    """
    first = int(tree[node]["first"])
    visits = float(tree[node]["visits"])
    value = -tree[node]["total"] / visits if visits else 0.0
    wide = exploration * math.sqrt(visits)
    chosen = first
    best = -math.inf
    for child in range(first, first + int(tree[node]["children"])):
        if tree[child]["proof"] < 0:
            continue
        tried = float(tree[child]["visits"])
        mean = tree[child]["total"] / tried if tried else value
        bound = mean + wide * tree[child]["prior"] / (1.0 + tried)
        if bound > best:
            chosen, best = child, bound
    return chosen


@kernel(_int64(NODE_ARRAY, SEARCH_RECORD, _rows))
def gumbel_root_action_selection(
    tree: NDArray[np.void], search: np.void, considered: Int64s
) -> int:
    """Return the child of the root with the greatest sum of Gumbel variable and improved logit.

    Children with ``considered[visits, children]`` visits come before others, where ``visits`` and
    ``children`` are numbers of the root (sequential halving).
    """
    logits, noise = search["logits"][:], search["noise"]
    complete_by_mixed_value(tree, search["value"], logits, search["values"][:])
    first, children = int(tree[0]["first"]), int(tree[0]["children"])
    visits = considered[int(tree[0]["visits"]), children]
    chosen, best = first, -math.inf
    for child in range(first, first + children):
        if tree[child]["proof"] == OPEN:
            column = tree[child]["column"]
            score = logits[column] + noise[column]
            if tree[child]["visits"] != visits:
                score -= 1e6
            if score > best:
                chosen, best = child, score
    return chosen


@kernel(types.void(NODE_ARRAY, SEARCH_RECORD, _LEAF, _rows), nogil=True)
def descend(tree: NDArray[np.void], search: np.void, leaf: np.void, considered: Int64s) -> None:
    """Descend from the root to a leaf.

    If the next two discs decide a leaf, its proof is set and propagated. Any other leaf needs an
    evaluation; its field ``first`` is ``PENDING`` if it already waits for one. If all moves but one
    lose at once, a search that follows forced moves adds that move's child and goes on from there.
    """
    path = leaf["path"][:]
    exploration = float(search["exploration"])
    mine, theirs = int(search["root"][0]), int(search["root"][1])
    used = int(search["used"])
    node = depth = 0
    path[0] = 0
    while tree[node]["proof"] == OPEN and tree[node]["first"] != PENDING:
        if tree[node]["children"] == 0:
            cells = prove_leaf(tree, path, depth, mine, theirs)
            if cells & (cells - 1) or cells == 0 or not search["follow"] or used == len(tree):
                break
            used = expand(tree, node, mine, theirs, used)
            tree[used - 1]["prior"] = 1.0
        if depth == 0 and len(considered):
            node = gumbel_root_action_selection(tree, search, considered)
        else:
            node = puct_action_selection(tree, node, exploration)
        depth += 1
        path[depth] = node
        mine, theirs = theirs, mine | drop(mine | theirs, int(tree[node]["column"]))
    search["used"] = used
    leaf["depth"] = depth
    leaf["board"][0], leaf["board"][1] = mine, theirs


@kernel(_int64(TREES, SEARCHES, LEAVES, _rows, _int64), nogil=True)
def select_leaves(
    trees: NDArray[np.void],
    searches: NDArray[np.void],
    leaves: NDArray[np.void],
    considered: Int64s,
    most: int,
) -> int:
    """Begin simulations until leaves wait for their evaluation; return how many, 0 at the end.

    The trees have equal shares of ``leaves``, and a tree begins at most ``most`` simulations per
    round. A tree is done once no simulation is left or its root is proven. The result of a proven
    leaf is backed up at once.
    """
    share = len(leaves) // max(1, len(trees))
    waiting = 0
    busy = True
    while busy and waiting == 0:
        busy = False
        for i in range(len(trees)):
            tree, search = trees[i], searches[i]
            end = waiting + share
            rest = min(most, int(search["left"]))
            while waiting < end and rest > 0 and tree[0]["proof"] == OPEN:
                leaf = leaves[waiting]
                descend(tree, search, leaf, considered)
                path, depth = leaf["path"][:], int(leaf["depth"])
                node = path[depth]
                proof = int(tree[node]["proof"])
                if proof == OPEN and tree[node]["first"] == PENDING:
                    break  # the tree's search cannot continue without this leaf's evaluation
                busy = True
                rest -= 1
                search["left"] -= 1
                search["deepest"] = max(int(search["deepest"]), depth)
                if proof != OPEN:
                    back_up(tree, path, depth, 1, 0.0, float(sign(proof)))
                else:
                    tree[node]["first"] = PENDING
                    back_up(tree, path, depth, 1, -search["loss"], 0.0)
                    leaf["tree"] = i
                    waiting += 1
    return waiting


@kernel(
    types.void(TREES, SEARCHES, LEAVES, types.float64[:, ::1], _floats, types.boolean),
    nogil=True,
)
def expand_leaves(
    trees: NDArray[np.void],
    searches: NDArray[np.void],
    leaves: NDArray[np.void],
    policies: Float64s,
    values: Float64s,
    logits: bool,
) -> None:
    """Expand the waiting leaves, undo their virtual losses, and back their values up.

    Priors are proportional to ``policies`` ``[waiting, 7]``, or to their exponentials if they are
    ``logits``. ``values`` ``[waiting]`` are for the side to move.
    """
    weights = np.empty(COLUMNS)
    for i in range(len(leaves)):
        leaf = leaves[i]
        tree, search = trees[leaf["tree"]], searches[leaf["tree"]]
        path, depth = leaf["path"][:], int(leaf["depth"])
        node = int(path[depth])
        first = int(search["used"])
        tree[node]["first"] = 0
        if first + COLUMNS <= len(tree):
            end = expand(tree, node, int(leaf["board"][0]), int(leaf["board"][1]), first)
            search["used"] = end
            most = -math.inf
            for child in range(first, end):
                most = max(most, policies[i, tree[child]["column"]])
            total = 0.0
            for child in range(first, end):
                column = tree[child]["column"]
                weight = policies[i, column]
                weights[column] = math.exp(weight - most) if logits else weight
                total += weights[column]
            for child in range(first, end):
                weight = weights[tree[child]["column"]]
                tree[child]["prior"] = weight / total if total > 0.0 else 1.0 / (end - first)
        if depth == 0:
            search["value"] = values[i]
        back_up(tree, path, depth, 0, search["loss"], -values[i])


def search(
    trees: NDArray[np.void],
    searches: NDArray[np.void],
    leaves: NDArray[np.void],
    evaluate: Evaluate,
    considered: Int64s,
    most: int,
    logits: bool,
) -> None:
    """Run the simulations ``left`` of each search (see :func:`select_leaves`)."""
    while count := select_leaves(trees, searches, leaves, considered, most):
        waiting = leaves[:count]
        policies, values = evaluate(np.ascontiguousarray(waiting["board"]))
        expand_leaves(trees, searches, waiting, policies, values, logits)
