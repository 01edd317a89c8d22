"""Monte Carlo tree search: UCT with random or greedy playouts and with proofs.

Source: Kocsis, Szepesvári, "Bandit based Monte-Carlo planning", 2006.
"""

from __future__ import annotations

import math
from typing import Annotated, Literal

import numpy as np
from numba import types
from numpy.typing import NDArray

from c4env.agents.making.options import Megabytes, Movetime, Range, Simulations, validate_args
from c4env.agents.sampling.tree import (
    NODE_ARRAY,
    OPEN,
    SEARCH_RECORD,
    TreeAgent,
    back_up,
    expand,
    prove_leaf,
)
from c4env.arrays import Int64s
from c4env.bitboard import (
    CELLS,
    COLUMN,
    COLUMNS,
    STRIDE,
    drop,
    has_won,
    playable,
    safe_moves,
    sign,
    winning_cells,
)
from c4env.envs.drand48 import below, next_random
from c4env.envs.streams import STATES
from c4env.jit import kernel
from c4env.position import Position

_int64, _float64, _bool = types.int64, types.float64, types.boolean
_words = types.int64[::1]


@kernel("UniTuple(int64, 2)(int64, int64)")
def draw_cell(moves: int, state: int) -> tuple[int, int]:
    """Draw one of the playable cells ``moves``; return the cell and the new random state."""
    while True:
        state = next_random(state)
        column = below(state, COLUMNS)
        cell = moves & (COLUMN << (STRIDE * column))
        if cell:
            return cell, state


@kernel("UniTuple(int64, 2)(int64, int64, int64)")
def random_playout(mine: int, theirs: int, state: int) -> tuple[int, int]:
    """Play random columns to the end of the game; return the result and the generator's state.

    The result is 1, 0 or -1 for the side to move.
    """
    sign = 1
    while True:
        moves = playable(mine | theirs)
        if moves == 0:
            return 0, state
        cell, state = draw_cell(moves, state)
        if has_won(mine | cell):
            return sign, state
        mine, theirs = theirs, mine | cell
        sign = -sign


@kernel("UniTuple(int64, 2)(int64, int64, int64)")
def greedy_playout(mine: int, theirs: int, state: int) -> tuple[int, int]:
    """Play as :func:`random_playout`, but win, else block, else avoid letting the other win."""
    sign = 1
    my_wins, their_wins = winning_cells(mine), winning_cells(theirs)
    while True:
        moves = playable(mine | theirs)
        if my_wins & moves:
            return sign, state
        if moves == 0:
            return 0, state
        safe = safe_moves(moves, their_wins)
        if safe == 0:
            return -sign, state
        cell, state = (safe, state) if their_wins & moves else draw_cell(safe, state)
        mine, theirs = theirs, mine | cell
        # Only the side that moved can have new winning cells.
        my_wins, their_wins = their_wins, winning_cells(theirs)
        sign = -sign


@kernel(_int64(NODE_ARRAY, _int64, _float64))
def select_ucb1(tree: NDArray[np.void], node: int, exploration: float) -> int:
    """Return the child of an undecided node with the greatest upper confidence bound (UCB1).

    Unvisited children come first. Proven losses are never selected.
    """
    first = int(tree[node]["first"])
    wide = exploration * math.sqrt(math.log(1.0 + tree[node]["visits"]))
    chosen = first
    best = -math.inf
    for child in range(first, first + int(tree[node]["children"])):
        if tree[child]["proof"] < 0:
            continue
        visits = float(tree[child]["visits"])
        if visits == 0.0:
            return child
        bound = tree[child]["total"] / visits + wide / math.sqrt(visits)
        if bound > best:
            chosen, best = child, bound
    return chosen


@kernel(_int64(NODE_ARRAY, SEARCH_RECORD[::1], _words, _int64, _bool), nogil=True)
def simulate(
    tree: NDArray[np.void], searches: NDArray[np.void], path: Int64s, most: int, greedy: bool
) -> int:
    """Run ``most`` simulations, or fewer if the root is proven; return their number.

    A simulation descends to a new leaf, plays out from the leaf, and backs the result up. The root
    must have children. ``path`` ``[CELLS + 1]`` is working memory.
    """
    search = searches[0]
    root_mine, root_theirs = int(search["root"][0]), int(search["root"][1])
    exploration = float(search["exploration"])
    used, state = int(search["used"]), int(search["random"])
    done = 0
    while done < most and tree[0]["proof"] == OPEN:
        mine, theirs = root_mine, root_theirs
        node = depth = 0
        path[0] = 0
        while tree[node]["proof"] == OPEN:
            if tree[node]["children"] == 0:
                if tree[node]["visits"] == 0 or used + COLUMNS > len(tree):
                    break
                used = expand(tree, node, mine, theirs, used)
            node = select_ucb1(tree, node, exploration)
            depth += 1
            path[depth] = node
            mine, theirs = theirs, mine | drop(mine | theirs, int(tree[node]["column"]))
        if tree[node]["proof"] == OPEN and tree[node]["visits"] == 0:
            prove_leaf(tree, path, depth, mine, theirs)
        # The result, like a node's total, is for the side that moved into the leaf.
        proof = int(tree[node]["proof"])
        if proof != OPEN:
            result = sign(proof)
        else:
            if greedy:
                result, state = greedy_playout(mine, theirs, state)
            else:
                result, state = random_playout(mine, theirs, state)
            result = -result
        search["deepest"] = max(int(search["deepest"]), depth)
        back_up(tree, path, depth, 1, 0.0, float(result))
        done += 1
    search["used"], search["random"] = used, state
    return done


class MCTS(TreeAgent):
    """Plays the most visited column of UCT (upper confidence bounds for trees).

    Args:
        simulations: playouts for each move (2000 without a movetime).
        c: the constant of exploration, for results 1, 0 and -1.
        rollout: greedy (win, else block, else allow no win) or random.
        reuse: keep the tree from move to move. See :class:`TreeAgent`.
        tree_mb: memory of the tree, at most.
    """

    default_simulations = 2000
    slice = 512

    @validate_args
    def __init__(
        self,
        simulations: Simulations | None = None,
        movetime: Movetime | None = None,
        c: Annotated[float, Range(0, 100)] = 1.0,
        rollout: Literal["greedy", "random"] = "greedy",
        reuse: bool = True,
        tree_mb: Megabytes = 128,
    ) -> None:
        super().__init__(simulations, movetime, reuse, tree_mb)
        self.c = c
        self.rollout = rollout
        self._path = np.zeros(CELLS + 1, np.int64)

    def _prepare(self, position: Position) -> None:
        self._expand_root(position)
        self._search["exploration"] = self.c
        (number,) = self._seed_at(position).generate_state(1, np.uint64).tolist()
        self._search["random"] = number % STATES

    def _grow(self, most: int) -> int:
        return simulate(self._tree, self._search, self._path, most, self.rollout == "greedy")
