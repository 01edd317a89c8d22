"""The Rust bot: minimax that maximizes the line score and breaks ties by depth.

Source: "Creating a Connect-4 Bot Using the Minmax Algorithm". The published bot does not prune.
The port prunes only moves whose value is *strictly* outside the alpha-beta window. So the depth
that breaks ties stays exact among equal values, and the port chooses the same column as the
published bot in every position.
"""

from __future__ import annotations

from typing import Any, Final

from c4env.agents.base import LineSearch
from c4env.agents.heuristics.evaluations import line_score
from c4env.agents.making.options import Plies, validate_args
from c4env.agents.search.lowlevel import POINTER, pointer
from c4env.agents.search.threads import LIMIT, search_interruptibly
from c4env.arrays import Int64s
from c4env.bitboard import CELLS, COLUMNS, drop, has_won, playable
from c4env.geometry import require_standard
from c4env.jit import kernel
from c4env.position import Position

require_standard(__name__)

POLL_DEPTH: Final = 3  # nodes with at least this many plies left check whether to stop
PRUNED: Final = 0.8  # a full search to this share of the depth has about as many nodes
MAX: Final = 2**63 - 1  # the value of a won board, as in the original: the largest int64


@kernel(f"UniTuple(int64, 4)(int64, int64, int64, boolean, int64, int64, {POINTER})")
def minimax(
    bot: int, other: int, depth: int, bot_moved: bool, alpha: int, beta: int, work: Any
) -> tuple[int, int, int, int]:
    """Return the column, its value for the bot, the depth left at that value's leaf, and the nodes.

    At depth 0 the value is the line score. The column is -1 at depth 0 and if the game is over.
    Value and depth are exact when alpha <= value <= beta; else the value is a bound. The bot takes
    the greatest value, then the greatest depth, then the last column. The other side takes the
    least value, then the greatest depth, then the first column. Once ``work[LIMIT]`` is negative,
    the result is meaningless.
    """
    if has_won(bot if bot_moved else other):
        return -1, (MAX if bot_moved else -MAX), depth, 1
    moves = playable(bot | other)
    if depth == 0 or moves == 0:
        return -1, line_score(bot, other), depth, 1
    chosen, best, attached, nodes = -1, 0, -1, 1
    if depth >= POLL_DEPTH and work[LIMIT] < 0:
        return chosen, best, attached, nodes
    for column in range(COLUMNS):
        cell = drop(bot | other, column)
        if not cell:
            continue
        bot_after, other_after = (bot, other | cell) if bot_moved else (bot | cell, other)
        # No literal True or False: Numba would infer another type.
        _, value, level, searched = minimax(
            bot_after, other_after, depth - 1, not bot_moved, alpha, beta, work
        )
        if bot_moved:
            better = value < best or (value == best and level > attached)
        else:
            better = value > best or (value == best and level >= attached)
        nodes += searched
        if chosen < 0 or better:
            chosen, best, attached = column, value, level
        if bot_moved:
            beta = min(beta, best)
        else:
            alpha = max(alpha, best)
        if alpha > beta:
            break
    return chosen, best, attached, nodes


@kernel("UniTuple(int64, 4)(int64, int64, int64, boolean, int64[::1])", nogil=True)
def minimax_from_root(
    bot: int, other: int, depth: int, bot_moved: bool, work: Int64s
) -> tuple[int, int, int, int]:
    """Call :func:`minimax` from Python, with the whole window."""
    return minimax(bot, other, depth, bot_moved, -MAX, MAX, pointer(work))


class RustPort(LineSearch):
    """Plays as the Rust bot, always in the role that the report calls X.

    Args:
        depth: plies looked ahead, the agent's own move included; the report's depth plus one.

    The value of a win is 2**63 - 1.
    """

    _repeats = True

    @validate_args
    def __init__(self, depth: Plies = 5) -> None:
        self.depth = depth

    def _minimax(
        self, bot: int, other: int, depth: int, bot_moved: bool
    ) -> tuple[int, int, int, int]:
        plies = min(depth, CELLS - (bot | other).bit_count())
        return search_interruptibly(
            lambda work: minimax_from_root(bot, other, depth, bot_moved, work),
            COLUMNS ** (PRUNED * plies),
        )

    def _best(self, position: Position) -> tuple[int, float, int, int]:
        depth = self.depth
        column, value, _, nodes = self._minimax(position.mine, position.theirs, depth, False)
        return column, float(value), nodes - 1, depth

    def _reply(self, after: Position, ply: int) -> int:
        mine, theirs, left = after.mine, after.theirs, self.depth - 1 - ply
        if ply % 2 == 0:  # the bot has moved
            return self._minimax(theirs, mine, left, True)[0]
        return self._minimax(mine, theirs, left, False)[0]
