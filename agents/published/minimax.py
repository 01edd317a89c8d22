"""Naive minimax: every line of play to a fixed depth, nothing cut.

Source: the chain system, "Connect 4 Simulator with Minimax", as the baseline that its
alpha-beta search is measured against; both choose the same column in every position.
"""

from __future__ import annotations

__any_board__ = True

from typing import ClassVar

from c4env.agents.search.fixed_depth import FixedDepth


class Minimax(FixedDepth):
    """Naive minimax with any heuristic; the published one with the defaults."""

    prune: ClassVar[bool] = False
