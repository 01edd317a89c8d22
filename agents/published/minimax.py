"""Naive minimax to a fixed depth, without pruning.

Source: the chain system, "Connect 4 Simulator with Minimax", where naive minimax is the baseline
for the alpha-beta search. Both searches choose the same column in every position.
"""

from __future__ import annotations

from typing import ClassVar

from ..registry.options import DEFAULT_HEURISTIC, HeuristicName, Plies, validate_args
from ..search.fixed_depth import FixedDepth


class Minimax(FixedDepth):
    """Naive minimax with any heuristic; the defaults are the published settings.

    Args:
        depth: plies looked ahead, the agent's own move included.
        heuristic: name or import path of the heuristic (``c4env.agents.heuristics.names``).
    """

    prune: ClassVar[bool] = False
    quick: ClassVar[int] = 10**6

    @validate_args
    def __init__(self, depth: Plies = 7, heuristic: HeuristicName = DEFAULT_HEURISTIC) -> None:
        super().__init__(depth, heuristic)
