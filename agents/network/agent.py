"""``learned``: an agent that combines an exact search and a small network."""

from __future__ import annotations

from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray

from c4env.agents.base import SearchingAgent, SearchResult, require_move
from c4env.agents.network.network import Network, exponential, shipped
from c4env.agents.registry.entries import Range
from c4env.agents.registry.options import validate_args
from c4env.agents.solver import Solver
from c4env.bitboard import BOARD, CELLS, CENTRE_FIRST, drop, playable, popcount, winning_moves
from c4env.position import Position

PRIOR: Final = 1.0  # greatest bonus for a column of high policy
CERTAIN: Final = 10.0  # added to the value of a certain win, subtracted for a loss

Bounds = dict[int, tuple[int, int]]  # column: lower, upper bound of the result 1, 0, -1


class Learned(SearchingAgent):
    """Plays by an exact search, or by a network where the search does not decide.

    The agent plays an immediate win, or else a forced block. Otherwise, at depth 0, the agent plays
    the column that the network's policy prefers. At a greater depth, an exact search of about
    ``nodes`` nodes finds columns that certainly win, draw or lose. Each other column gets the
    minimax of the network's values ``depth`` plies ahead. The agent leaves out columns that are
    certainly no better than another, and plays the column with the greatest sum of value and policy
    bonus. The bonus is at most ``PRIOR``.

    Args:
        depth: plies looked ahead, the agent's own move included; 0 plays the policy's column.
        weights: shipped, or an .npz file of weights.
        nodes: nodes of the exact search; 0 turns the search off, and so does ``depth`` 0.
    """

    deterministic = True

    @validate_args
    def __init__(
        self,
        depth: Annotated[int, Range(0, 4)] = 1,
        weights: str = "shipped",
        nodes: Annotated[int, Range(0, 10**9)] = 300_000,
    ) -> None:
        self.depth = depth
        self.limit = nodes
        self.network = shipped() if weights == "shipped" else Network.load(weights)
        self._solver = Solver(book=None, table_mb=1)

    def search(self, position: Position) -> SearchResult:
        """Return the column to play, its value, and the principal variation.

        The value is between -1 and 1, or beyond them if the look-ahead ends in a win or loss.
        """
        require_move(position)
        root = _Node(position.mine, position.theirs)
        logits, (root.value,) = self._evaluated([root])
        policy = logits.tolist()
        bounds = self._bounds(position, policy)
        leaves: list[_Node] = []
        root.grow(self.depth, leaves, bounds)
        if not root.children:  # no win or block, and depth 0
            legal = position.legal_columns()
            column = max((c for c in CENTRE_FIRST if c in legal), key=policy.__getitem__)
            return SearchResult(column, root.value, 1, 0, (column,))
        nodes = 1 + len(leaves) + (self._solver.nodes if bounds else 0)
        for leaf, value in zip(leaves, self._evaluated(leaves)[1] if leaves else (), strict=True):
            leaf.value = value
        shares = exponential(logits - max(policy[column] for column in root.children)).tolist()
        least = max((low for low, _ in bounds.values()), default=-2)  # the certain result
        worth, rank = {}, {}
        for column, child in root.children.items():
            low, high = bounds.get(column, (-2, 2))
            worth[column] = min(max(-child.back_up(), float(low)), float(high))
            if low == least or high > least:  # otherwise another column is at least as good
                certain = CERTAIN * ((low == 1) - (high == -1))
                rank[column] = worth[column] + PRIOR * shares[column] + certain
        column = max(rank, key=rank.__getitem__)
        line = (column, *root.children[column].line())
        return SearchResult(column, worth[column], nodes, self.depth, line)

    def _evaluated(self, nodes: list[_Node]) -> tuple[NDArray[np.float32], list[float]]:
        """Return the logits ``[7]`` of the first node, and the values of all nodes."""
        boards = np.array([(node.mine, node.theirs) for node in nodes], np.int64)
        logits, values = self.network.evaluate(*np.ascontiguousarray(boards.T))
        return logits[0], values.tolist()

    def _bounds(self, position: Position, policy: list[float]) -> Bounds:
        """Return the exact bounds on columns' results; {} if a side has an immediate win."""
        sides = position.mine, position.theirs
        if not (self.depth and self.limit) or winning_moves(*sides) or winning_moves(*sides[::-1]):
            return {}
        order = sorted(CENTRE_FIRST, key=lambda column: -policy[column])
        found = self._solver.signs(position, self.limit, order)
        return {column: pair for column, pair in enumerate(found) if pair is not None}


class _Node:
    """A node of the search tree; ``value`` is for the side to move."""

    __slots__ = ("children", "mine", "theirs", "value")

    def __init__(self, mine: int, theirs: int) -> None:
        self.mine = mine
        self.theirs = theirs
        self.value = 0.0
        self.children: dict[int, _Node] = {}  # by column, centre first

    def grow(self, depth: int, leaves: list[_Node], bounds: Bounds | None = None) -> None:
        """Expand ``depth`` plies, not counting forced moves; append new leaves to ``leaves``.

        Columns whose bounds give a certain result are not expanded.
        """
        occupied = self.mine | self.theirs
        cells = playable(occupied)
        wins = winning_moves(self.mine, self.theirs)
        blocks = winning_moves(self.theirs, self.mine)
        if wins:
            cells = wins
        elif blocks:
            cells = blocks
        elif depth == 0:
            leaves.append(self)
            return
        else:
            depth -= 1
        for column in CENTRE_FIRST:
            cell = cells & drop(occupied, column)
            if cell == 0:
                continue
            child = self.children[column] = _Node(self.theirs, self.mine | cell)
            if wins:
                child.value = popcount(occupied) / CELLS - 2  # lost; the later, the better
            elif bounds and bounds[column][0] == bounds[column][1]:
                child.value = -float(bounds[column][0])
            elif occupied | cell != BOARD:
                child.grow(depth, leaves)

    def back_up(self) -> float:
        """Compute the value by minimax."""
        if self.children:
            self.value = max(-child.back_up() for child in self.children.values())
        return self.value

    def line(self) -> tuple[int, ...]:
        """Return the principal variation from this node to a leaf."""
        for column, child in self.children.items():
            if -child.value == self.value:
                return (column, *child.line())
        return ()
