"""Sequential halving: how the root divides its simulations among the columns it considers.

Karnin, Koren, Somekh, "Almost optimal exploration in multi-armed bandits", 2013; Danihelka and
others, "Policy improvement by planning with Gumbel", 2022, section 3.2, use it at the root.
"""

from __future__ import annotations

import math


def considered_visits(considered: int, simulations: int) -> list[int]:
    """Return, for each simulation, the visit count of the root's children that it chooses among.

    Rounds have equal shares of the simulations. Each round visits every remaining one of the
    ``considered`` columns equally often, and the better half of the columns remains.

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
