"""Plays the network's move, after a short look ahead."""

from __future__ import annotations

from typing import Final

import numpy as np

from agents.base import SearchingAgent, SearchResult, require_move
from agents.learned.features import planes_from
from agents.learned.network import Network, shipped, squash
from c4env.bitboard import BOARD, CELLS, CENTRE_FIRST, drop, playable, popcount, winning_moves
from c4env.position import Position

SHIPPED: Final = "shipped"
PRIOR: Final = 0.2  # a column the policy would not play is worth so much less

_FAR: Final = np.float32(-100)  # in place of -inf, which no arithmetic likes


class Learned(SearchingAgent):
    """The network's values ``depth`` plies ahead, all in one batch, and its policy at the root.

    Whoever can win at once does so, and whoever must answer a threat does so, without counting
    as a ply of the depth; so no win or block is missed. With depth 0 that is all: the column
    is the policy's. Otherwise it is the best by minimax over the values, less up to ``PRIOR``
    for what the policy thinks of the column.

    Args:
        depth: plies looked ahead, the agent's own move included; 0 for the policy alone.
        weights: ``"shipped"``, or the path of an ``.npz`` file.

    Raises:
        UnreadableWeights: there is no network in the file.
    """

    deterministic = True
    settings_are_all = True

    def __init__(self, depth: int = 2, weights: str = SHIPPED) -> None:
        self.depth = depth
        self.network = shipped() if weights == SHIPPED else Network.load(weights)

    def search(self, position: Position) -> SearchResult:
        """The chosen column, its value, and the line the lookahead expects.

        Values are between -1 and 1, and beyond where the game's end was seen.

        Raises:
            NoMove: the game is over.
        """
        require_move(position)
        root = _Node(position.mine, position.theirs)
        leaves: list[_Node] = []
        root.grow(self.depth, leaves)
        asked = [root, *leaves]
        planes = planes_from(*np.array([(n.mine, n.theirs) for n in asked], np.int64).T)
        logits, values = self.network(planes, planes[:, 0].max(axis=2) == 0)
        for node, value in zip(asked, values.tolist(), strict=True):
            node.value = value
        if not root.children:  # nothing urgent, and depth 0
            column = max(CENTRE_FIRST, key=logits[0].tolist().__getitem__)
            return SearchResult(column, root.value, len(asked), 0, (column,))
        prior = PRIOR * squash(np.maximum(logits[0] - logits[0].max(), _FAR))
        worth = {
            column: float(prior[column]) - child.back_up()
            for column, child in root.children.items()
        }
        column = max(worth, key=worth.__getitem__)
        chosen = root.children[column]
        return SearchResult(column, -chosen.value, len(asked), self.depth, (column, *chosen.line()))


class _Node:
    """A position of the tree; ``value`` is seen from its side to move."""

    __slots__ = ("children", "mine", "theirs", "value")

    def __init__(self, mine: int, theirs: int) -> None:
        self.mine = mine
        self.theirs = theirs
        self.value = 0.0
        self.children: dict[int, _Node] = {}  # by column, centre first

    def grow(self, depth: int, leaves: list[_Node]) -> None:
        """Play on to ``depth`` and out of threats; collect the leaves to be evaluated."""
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
            elif occupied | cell != BOARD:
                child.grow(depth, leaves)

    def back_up(self) -> float:
        """The value by minimax."""
        if self.children:
            self.value = max(-child.back_up() for child in self.children.values())
        return self.value

    def line(self) -> tuple[int, ...]:
        """The best columns from here on, to a leaf."""
        for column, child in self.children.items():
            if -child.value == self.value:
                return (column, *child.line())
        return ()
