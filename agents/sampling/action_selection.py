"""Action selection: the child that a simulation goes on to, at the root and below.

The names are those of ``mctx``. The root of a Gumbel search selects by section 3 of Danihelka,
Guez, Schrittwieser, Silver, "Policy improvement by planning with Gumbel", 2022; all other nodes
select by PUCT.
"""

from __future__ import annotations

import math

import numpy as np
from numba import types
from numpy.typing import NDArray

from c4env.arrays import Int64s
from c4env.jit import kernel

from .qtransforms import complete_by_mixed_value
from .tree import NODE_ARRAY, OPEN, SEARCH_RECORD



@kernel(types.int64(NODE_ARRAY, types.int64, types.float64))
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


@kernel(types.int64(NODE_ARRAY, SEARCH_RECORD, types.int64[:, ::1]))
def gumbel_root_action_selection(
    tree: NDArray[np.void], search: np.void, considered: Int64s
) -> int:
    """Return the child of the root with the greatest sum of Gumbel variable and improved logit.

    Children with ``considered[visits, children]`` visits come before others, where ``visits`` and
    ``children`` are numbers of the root (:mod:`sequential_halving`).
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
