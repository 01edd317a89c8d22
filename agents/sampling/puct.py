"""PUCT: AlphaZero's tree search with a policy and value function and with proofs.

The search evaluates leaves in batches. A leaf that waits for its evaluation counts as a loss for
the side that moves into the leaf (a *virtual loss*), so that the next descent takes another path.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Any, Final, Literal

import numpy as np
from numba import types
from numpy.typing import NDArray

from c4env.agents.registry.entries import Range
from c4env.arrays import Float64s, Int64s
from c4env.jit import kernel

from ...bitboard import CELLS, COLUMNS, drop
from ...envs.vectorized.batch import observed
from ...position import Position
from ..base import derived
from ..registry.options import Megabytes, Movetime, Simulations, validate_args
from .policy_value import Asked
from .qtransforms import complete_by_mixed_value
from .tree import (
    DEEPEST,
    NODE_ARRAY,
    OPEN,
    USED,
    TreeAgent,
    add_result,
    expand,
    prove_leaf,
    sign,
)

PENDING: Final = -1  # ``first`` of a leaf that waits for its evaluation

WAITING: Final = 2  # word of the workspace: number of leaves that wait

_int64, _float64 = types.int64, types.float64
_words = types.int64[::1]
_rows = types.int64[:, ::1]


@kernel(types.int64(NODE_ARRAY, _int64, _float64))
def select_puct(tree: NDArray[np.void], node: int, exploration: float) -> int:
    """Return the child of an undecided node with the greatest value plus exploration bonus.

    An unvisited child has the value of the node itself. Proven losses are never selected.
    """
    first = int(tree[node]["first"])
    visits = float(tree[node]["visits"])
    value = -tree[node]["total"] / visits if visits else 0.0
    wide = exploration * math.sqrt(visits)
    chosen = first
    best = -math.inf
    for child in range(first, first + int(tree[node]["children"])):
        if tree[child]["proof"] < 0:
            continue
        tried = float(tree[child]["visits"])
        mean = tree[child]["total"] / tried if tried else value
        bound = mean + wide * tree[child]["prior"] / (1.0 + tried)
        if bound > best:
            chosen, best = child, bound
    return chosen


@kernel(types.void(NODE_ARRAY, _words, _int64, _float64))
def apply_virtual_loss(tree: NDArray[np.void], path: Int64s, depth: int, loss: float) -> None:
    """Subtract ``loss`` from the total of each node of a path; a loss of -1 undoes a loss of 1."""
    for step in range(depth + 1):
        tree[path[step]]["total"] -= loss


@kernel(
    types.UniTuple(_int64, 4)(NODE_ARRAY, _words, _int64, _int64, _int64, _float64, _int64),
    nogil=True,
)
def descend(
    tree: NDArray[np.void],
    path: Int64s,
    depth: int,
    mine: int,
    theirs: int,
    exploration: float,
    used: int,
) -> tuple[int, int, int, int]:
    """Descend by PUCT from ``path[depth]``, the position ``mine`` and ``theirs``, to a leaf.

    If the next two discs decide a leaf, its proof is set and propagated. Any other leaf needs an
    evaluation; its field ``first`` is ``PENDING`` if it already waits for one. If all moves but one
    lose at once, the descent adds that move's child and goes on from there, unless ``used`` is 0.

    Returns the depth of the leaf, its bitboards, and the number of nodes in use, once ``used``.
    """
    node = path[depth]
    while tree[node]["proof"] == OPEN and tree[node]["first"] != PENDING:
        if tree[node]["children"] == 0:
            cells = prove_leaf(tree, path, depth, mine, theirs)
            if cells & (cells - 1) or cells == 0 or used == 0 or used == len(tree):
                break
            used = expand(tree, node, mine, theirs, used)
            tree[used - 1]["prior"] = 1.0
        node = select_puct(tree, node, exploration)
        depth += 1
        path[depth] = node
        mine, theirs = theirs, mine | drop(mine | theirs, int(tree[node]["column"]))
    return depth, mine, theirs, used


@kernel(
    types.int64(
        NODE_ARRAY, _words, _rows, _words, _rows, _int64, _int64, _int64, _float64, types.boolean
    ),
    nogil=True,
)
def select_leaves(
    tree: NDArray[np.void],
    work: Int64s,
    paths: Int64s,
    depths: Int64s,
    boards: Int64s,
    root_mine: int,
    root_theirs: int,
    most: int,
    exploration: float,
    follow: bool,
) -> int:
    """Begin ``most`` simulations; return how many ended at a proven node.

    The leaves of the others wait for evaluations, with virtual losses: ``paths``
    ``[batch, CELLS + 1]``, ``depths`` ``[batch]`` and ``boards`` ``[batch, 2]`` get their paths,
    depths and bitboards, and ``work[WAITING]`` their number.
    """
    waiting = done = 0
    while waiting < len(depths) and waiting + done < most and tree[0]["proof"] == OPEN:
        path = paths[waiting]
        path[0] = 0
        used = int(work[USED])
        depth, mine, theirs, now = descend(
            tree, path, 0, root_mine, root_theirs, exploration, used if follow else 0
        )
        work[USED] = max(used, now)
        node = path[depth]
        if tree[node]["proof"] == OPEN and tree[node]["first"] == PENDING:
            break  # the search cannot continue without this leaf's evaluation
        work[DEEPEST] = max(int(work[DEEPEST]), depth)
        proof = int(tree[node]["proof"])
        if proof != OPEN:
            add_result(tree, path, depth, 1, float(sign(proof)))
            done += 1
        else:
            tree[node]["first"] = PENDING
            add_result(tree, path, depth, 1, 0.0)
            apply_virtual_loss(tree, path, depth, 1.0)
            depths[waiting] = depth
            boards[waiting, 0] = mine
            boards[waiting, 1] = theirs
            waiting += 1
    work[WAITING] = waiting
    return done


@kernel(
    types.void(NODE_ARRAY, _words, _rows, _words, _rows, types.float64[:, ::1], types.float64[::1])
)
def expand_leaves(
    tree: NDArray[np.void],
    work: Int64s,
    paths: Int64s,
    depths: Int64s,
    boards: Int64s,
    weights: Float64s,
    values: Float64s,
) -> None:
    """Expand the waiting leaves, undo their virtual losses, and back their values up.

    Priors are proportional to ``weights`` ``[waiting, 7]``. ``values`` ``[waiting]`` are for the
    side to move.
    """
    for i in range(work[WAITING]):
        depth = int(depths[i])
        node = int(paths[i, depth])
        mine, theirs = int(boards[i, 0]), int(boards[i, 1])
        tree[node]["first"] = 0
        if work[USED] + COLUMNS <= len(tree):
            used = int(work[USED])
            work[USED] = expand(tree, node, mine, theirs, used)
            children = int(tree[node]["children"])
            total = 0.0
            for child in range(used, used + children):
                total += weights[i, tree[child]["column"]]
            for child in range(used, used + children):
                weight = weights[i, tree[child]["column"]]
                tree[child]["prior"] = weight / total if total > 0.0 else 1.0 / children
        apply_virtual_loss(tree, paths[i], depth, -1.0)
        add_result(tree, paths[i], depth, 0, -values[i])


class PUCT(TreeAgent):
    """Plays by tree search with a policy and value function.

    Args:
        function: learned, selfplay:DIR or module:function. ``learned`` is the network that ships
            with the package, ``selfplay:DIR`` a network of ``c4env.agents.selfplay.train``. Any
            other is a network of yours (:mod:`c4env.agents.adapters.networks`) or its import path;
            it is deterministic only if its attribute ``deterministic`` is True. Without values,
            every undecided position counts 0.
        simulations: simulations for each move (400 without a movetime).
        c: weight of the policy against values, which are -1 to 1.
        policy: form of the function's policy: logits or probabilities. Probabilities need not sum
            to 1. Full columns are ignored.
        batch: leaves to evaluate at a time. Smaller batches err less and take longer.
        choice: visits (the most visited column) or improved (the best by policy and value).
            Gumbel searches use the rule ``improved``.
        follow: follow forced moves without an evaluation. Where all moves but one lose at once, the
            search evaluates the position after that move. With this option the search errs less.
        root_temperature: a value above 1 flattens the policy at the root. Probabilities are raised
            to the power 1 / ``root_temperature``. With a network of self-play and 200 simulations,
            a flatter policy usually makes the search err less.
        reuse: keep the tree from move to move. See :class:`TreeAgent`.
        tree_mb: memory of the tree, at most.
    """

    default_simulations = 400
    deterministic = derived(
        lambda agent: agent._function.deterministic and not agent.reuse and agent.movetime is None
    )

    @validate_args
    def __init__(
        self,
        function: str | Callable[..., Any] = "learned",
        simulations: Simulations | None = None,
        movetime: Movetime | None = None,
        c: Annotated[float, Range(0, 100)] = 1.5,
        policy: Literal["logits", "probabilities"] = "logits",
        batch: Annotated[int, Range(1, 1024)] = 8,
        choice: Literal["visits", "improved"] = "visits",
        follow: bool = False,
        root_temperature: Annotated[float, Range(0.01, 100)] = 1.0,
        reuse: bool = True,
        tree_mb: Megabytes = 128,
    ) -> None:
        super().__init__(simulations, movetime, reuse, tree_mb)
        self.c = c
        self.choice = choice
        self.follow = follow
        self.root_temperature = root_temperature
        self.slice = 4 * batch
        self._function = Asked(function, policy)
        self._paths = np.zeros((batch, CELLS + 1), np.int64)
        self._depths = np.zeros(batch, np.int64)
        self._boards = np.zeros((batch, 2), np.int64)

    def _prepare(self, position: Position) -> None:
        if not self._tree[0]["children"]:
            self._grow(position, 1)  # outside the budget: gives the root its priors
        self._expand_root(position)  # needed if the root is decided at once
        if self.root_temperature != 1.0 and self._tree[0]["proof"] == OPEN:
            children = self._children(0)
            priors = self._tree["prior"][children.start : children.stop]
            priors[:] = (priors / priors.max()) ** (1.0 / self.root_temperature)
            priors /= priors.sum()

    def _grow(self, position: Position, most: int) -> int:
        work, mine, theirs = self._work, position.mine, position.theirs
        leaves = (self._paths, self._depths, self._boards)
        made = 0
        while made < most and self._tree[0]["proof"] == OPEN:
            made += select_leaves(
                self._tree, work, *leaves, mine, theirs, most - made, self.c, self.follow
            )
            waiting = int(work[WAITING])
            if waiting:
                seen = observed(self._boards[:waiting])
                answer = self._function(seen["observation"], seen["action_mask"])
                expand_leaves(self._tree, work, *leaves, *answer)
                made += waiting
        return made

    def _chosen(self) -> int:
        if self.choice == "visits" or self._tree[0]["proof"] != OPEN:
            return super()._chosen()
        root, scores, values = self._tree[0], np.empty(COLUMNS), np.empty(COLUMNS)
        complete_by_mixed_value(self._tree, -root["total"] / root["visits"], scores, values)
        known = [child for child in self._children(0) if self._value(child) is not None]
        return max(known, key=lambda child: float(scores[self._tree[child]["column"]]))
