"""Minimax and alpha-beta to a fixed depth, and the published systems that use them.

Sources: the chain system ("Connect 4 Simulator with Minimax"), whose baseline is naive minimax;
window systems A ("Design and Implementation of a Minimax Game-Playing Agent for Connect Four") and
B ("Implementation Report - Connect Four with Minimax AI").
"""

from __future__ import annotations

from typing import ClassVar, Final

from ..heuristics.names import WIN
from ..registry.options import DEFAULT_HEURISTIC, HeuristicName, Plies, validate_args
from ..search.fixed_depth import CHAIN_RULES, FixedDepth, Rules
from ..search.packing import CENTRE_FIRST, LEFT_TO_RIGHT

WINDOW_RULES: Final = Rules(CENTRE_FIRST, CENTRE_FIRST, 1000.0, 1.0, evaluate_full=False)
# The report gives neither the order of columns nor the value of a win. Here the order is left to
# right, the first of equal columns is played, and a win is worth more than any heuristic value.
WINDOW_B_RULES: Final = Rules(LEFT_TO_RIGHT, LEFT_TO_RIGHT, WIN, 0.0, evaluate_full=False)


class AlphaBeta(FixedDepth):
    """Alpha-beta search with any heuristic; plays the same columns as ``minimax``."""

    @validate_args
    def __init__(self, depth: Plies = 7, heuristic: HeuristicName = DEFAULT_HEURISTIC) -> None:
        super().__init__(depth, heuristic)


class Minimax(FixedDepth):
    """Naive minimax with any heuristic; the defaults are the published settings."""

    quick: ClassVar[int] = 10**6

    @validate_args
    def __init__(self, depth: Plies = 7, heuristic: HeuristicName = DEFAULT_HEURISTIC) -> None:
        super().__init__(depth, heuristic, CHAIN_RULES._replace(prune=False))


class Chain(FixedDepth):
    """The alpha-beta search of the chain system ("Connect 4 Simulator with Minimax").

    Args:
        depth: plies looked ahead, the agent's own move included: the report's max_depth plus one.
    """

    @validate_args
    def __init__(self, depth: Plies = 7) -> None:
        super().__init__(depth, "chain")


class WindowA(FixedDepth):
    """Window system A, published at depths 3, 5 and 7: prefers quick wins and slow losses."""

    @validate_args
    def __init__(self, depth: Plies = 5) -> None:
        super().__init__(depth, "window", WINDOW_RULES)


class WindowB(FixedDepth):
    """Window system B, with the heuristic ``window-b``; its report gives no depth."""

    @validate_args
    def __init__(self, depth: Plies = 5) -> None:
        super().__init__(depth, "window-b", WINDOW_B_RULES)
