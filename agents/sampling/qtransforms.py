"""Q-transforms: how a search turns the values of the root's children into an improved policy.

``mctx`` calls such a function a *qtransform*. Danihelka, Guez, Schrittwieser, Silver, "Policy
improvement by planning with Gumbel", 2022, define the one below.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numba import types
from numpy.typing import NDArray

from c4env.arrays import Float64s
from c4env.jit import kernel

from .tree import NODE_ARRAY, OPEN, sign

# The monotone transformation of Q-values in section 5: (c_visit + max_b N(b)) * c_scale * q.
C_VISIT: Final = 50.0
C_SCALE: Final = 0.1


@kernel(types.void(NODE_ARRAY, types.float64, types.float64[::1], types.float64[::1]))
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
            known = tree[child]["total"] / visits if proof == OPEN else float(sign(proof))
            values[tree[child]["column"]] = known
            weight += tree[child]["prior"]
            total += tree[child]["prior"] * known
    mixed = (value + count * total / weight) / (1.0 + count) if weight > 0.0 else value
    logits[:] = -math.inf
    for child in range(first, end):
        column = tree[child]["column"]
        if tree[child]["proof"] == OPEN and tree[child]["visits"] == 0:
            values[column] = mixed
        logit = math.log(max(float(tree[child]["prior"]), 1e-9))
        logits[column] = logit + (C_VISIT + most) * C_SCALE * values[column]
