"""Sequential halving: how the root divides its simulations among the columns it considers.

Karnin, Koren, Somekh, "Almost optimal exploration in multi-armed bandits", 2013; Danihelka and
others, "Policy improvement by planning with Gumbel", 2022, section 3.2, use it at the root.
"""

from __future__ import annotations

import math

import numpy as np

from c4env.arrays import Int64s


def considered_visits(considered: int, simulations: int) -> list[int]:
    """Return, for each simulation, the visit count of the root's children that it chooses among.

    Rounds have equal shares of the simulations. Each round visits every remaining column equally
    often, and the better half of the columns remains.

    Args:
        considered: number of columns that the root considers.
        simulations: the length of the result.

    Example:
        considered_visits(4, 8) == [0, 0, 0, 0, 1, 1, 2, 2]
    """
    found: list[int] = []
    visits, remaining = 0, max(considered, 1)
    rounds = max(1, math.ceil(math.log2(remaining)))
    while len(found) < simulations:
        for _ in range(max(1, simulations // (rounds * remaining))):
            found += [visits] * remaining
            visits += 1
        remaining = max(min(2, considered, remaining), remaining // 2)
    return found[:simulations]


def considered_visits_table(columns: int, most: int, simulations: int) -> Int64s:
    """Return :func:`considered_visits` for every number of legal columns.

    Args:
        columns: columns of the board.
        most: most columns that the root considers.
        simulations: simulations of a search.

    Returns:
        int64 ``[simulations, columns + 1]``; entry n of a row is for a root with n children.
    """
    rows = [considered_visits(min(n, most), simulations) for n in range(columns + 1)]
    return np.array(rows, np.int64).T.copy()
