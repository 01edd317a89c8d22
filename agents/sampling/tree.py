"""The search tree of the sampling agents: nodes, proofs, reuse, and the base class.

A tree is an array of nodes; node 0 is the root. The children of a node are adjacent, so a node
holds the index of its first child and their number. ``total`` and ``proof`` are from the view of
the side that *moved into* the node, since the node's parent compares them.

Proofs follow MCTS-Solver (Winands, Björnsson, Saito, "Monte-Carlo Tree Search Solver", 2008). A
decided node has a score as in :class:`c4env.agents.solver.Solver`. The sign is exact, but a quicker
win may exist that the search has not tried. A proof propagates towards the root as long as it
decides nodes, and no simulation goes below a proven node.
"""

from __future__ import annotations

import abc
import time
from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar, Final

import numpy as np
from numba import from_dtype, types
from numpy.typing import NDArray

from c4env.agents.base import SearchingAgent, SearchResult, require_move
from c4env.arrays import Int64s
from c4env.bitboard import (
    CENTRE_FIRST,
    COLUMN,
    COLUMNS,
    STRIDE,
    playable,
    popcount,
    safe_moves,
    sign,
    win_score,
    winning_cells,
)
from c4env.errors import InvalidOption
from c4env.jit import kernel
from c4env.position import Position

NODE: Final = np.dtype(
    [
        ("total", np.float64),  # sum of results, 1 for a win
        ("visits", np.int32),
        ("first", np.int32),  # index of the first child; 0 without children
        ("prior", np.float32),  # the policy's probability of the move into the node
        ("column", np.int8),  # column of the move into the node
        ("children", np.int8),
        ("proof", np.int8),  # a score, or OPEN
    ],
    align=True,
)
OPEN: Final = 99  # in place of a score: not proven

SEARCH: Final = np.dtype(
    [
        ("root", np.int64, 2),  # bitboards, the side to move first
        ("used", np.int64),  # number of nodes in use
        ("deepest", np.int64),  # depth of the deepest simulation, in plies
        ("left", np.int64),  # simulations still to begin
        ("random", np.int64),  # state of the generator of playouts (``drand48``)
        ("exploration", np.float64),  # weight of the exploration bonus
        ("loss", np.float64),  # the virtual loss of a leaf that waits
        ("value", np.float64),  # the function's value of the root
        ("noise", np.float64, COLUMNS),  # the Gumbel variables of the columns
        ("logits", np.float64, COLUMNS),  # of the improved policy
        ("values", np.float64, COLUMNS),  # the completed Q-values
        ("follow", np.bool_),  # play forced moves without an evaluation
    ],
    align=True,
)

NODE_ARRAY: Final[Any] = from_dtype(NODE)[::1]
SEARCH_RECORD: Final[Any] = from_dtype(SEARCH)
_int64, _float64 = types.int64, types.float64
_words = types.int64[::1]


@kernel("UniTuple(int64, 2)(int64, int64)")
def tactical_status(mine: int, theirs: int) -> tuple[int, int]:
    """Return a position's score, if the next two discs decide it, and the cells worth playing.

    An undecided position gets the score ``OPEN`` and every move after which the opponent cannot win
    with the next disc. A decided position gets a single cell, or none if the board is full.
    """
    moves = playable(mine | theirs)
    plies = popcount(mine | theirs)
    wins = winning_cells(mine) & moves
    if wins:
        return win_score(plies + 1), wins & -wins
    if moves == 0:
        return 0, 0
    their_wins = winning_cells(theirs)
    safe = safe_moves(moves, their_wins)
    if safe == 0:
        forced = their_wins & moves
        tried = forced if forced else moves
        return -win_score(plies + 2), tried & -tried
    return OPEN, safe


@kernel(_int64(NODE_ARRAY, _int64, _int64, _int64, _int64))
def expand(tree: NDArray[np.void], node: int, mine: int, theirs: int, used: int) -> int:
    """Add the children of a node, centre first; return the new number of nodes in use.

    ``used`` is the number before, and the tree must have room for seven more. Moves that let the
    opponent win with the next disc get no node. If the next two discs decide the position, the node
    is proven and gets one child.
    """
    score, cells = tactical_status(mine, theirs)
    tree[node]["first"] = used
    if score != OPEN:
        tree[node]["proof"] = -score
    for column in CENTRE_FIRST:
        if cells & (COLUMN << (STRIDE * column)):
            tree[used]["total"] = 0.0
            tree[used]["visits"] = 0
            tree[used]["first"] = 0
            tree[used]["prior"] = 0.0
            tree[used]["column"] = column
            tree[used]["children"] = 0
            tree[used]["proof"] = score
            used += 1
    tree[node]["children"] = used - int(tree[node]["first"])
    return used


@kernel(types.void(NODE_ARRAY, _words, _int64))
def propagate_proof(tree: NDArray[np.void], path: Int64s, depth: int) -> None:
    """Propagate the proof of ``path[depth]`` to the ancestors that it decides."""
    for step in range(depth - 1, -1, -1):
        node = path[step]
        first = int(tree[node]["first"])
        best = -OPEN
        undecided = False
        for child in range(first, first + int(tree[node]["children"])):
            proof = tree[child]["proof"]
            if proof == OPEN:
                undecided = True
            else:
                best = max(best, int(proof))
        if undecided and best <= 0:
            return
        tree[node]["proof"] = -best


@kernel(_int64(NODE_ARRAY, _words, _int64, _int64, _int64))
def prove_leaf(tree: NDArray[np.void], path: Int64s, depth: int, mine: int, theirs: int) -> int:
    """Prove ``path[depth]``, and propagate the proof, if the next two discs decide its position.

    Otherwise return the cells worth playing.
    """
    score, cells = tactical_status(mine, theirs)
    if score == OPEN:
        return cells
    tree[path[depth]]["proof"] = -score
    propagate_proof(tree, path, depth)
    return 0


@kernel(types.void(NODE_ARRAY, _words, _int64, _int64, _float64, _float64))
def back_up(
    tree: NDArray[np.void], path: Int64s, depth: int, visits: int, change: float, result: float
) -> None:
    """Add visits, a change and a result to each node of a path; the result's sign alternates."""
    for step in range(depth, -1, -1):
        tree[path[step]]["visits"] += visits
        tree[path[step]]["total"] += change
        tree[path[step]]["total"] += result
        result = -result


@kernel(_int64(NODE_ARRAY, _int64))
def best_child(tree: NDArray[np.void], node: int) -> int:
    """Return the child to play: a proven win, else the most visited child, else the slowest loss.

    Ties go to the greater total, then to the first child. The child is -1 if none has visits or a
    proof.
    """
    first = int(tree[node]["first"])
    chosen = -1
    best_rank = best_count = best_total = -1e300
    for child in range(first, first + int(tree[node]["children"])):
        proof = int(tree[child]["proof"])
        count = float(tree[child]["visits"])
        if proof == OPEN and count == 0.0:
            continue
        decided = proof != OPEN and proof != 0
        rank = float(proof) if decided else 0.0
        count = 0.0 if decided else count
        total = float(tree[child]["total"])
        if rank > best_rank or (
            rank == best_rank
            and (count > best_count or (count == best_count and total > best_total))
        ):
            chosen, best_rank, best_count, best_total = child, rank, count, total
    return chosen


@kernel(_int64(NODE_ARRAY, _int64, NODE_ARRAY), nogil=True)
def copy_subtree(tree: NDArray[np.void], node: int, to: NDArray[np.void]) -> int:
    """Copy a node and its descendants to the beginning of another array; return their number."""
    to[0] = tree[node]
    used = 1
    done = 0
    while done < used:  # the copied nodes refer to children in the old array
        first = int(to[done]["first"])
        children = int(to[done]["children"])
        if children:
            to[done]["first"] = used
            for child in range(first, first + children):
                to[used] = tree[child]
                used += 1
        done += 1
    return used


@dataclass(frozen=True, slots=True)
class TreeResult(SearchResult):
    """The result of a tree search; ``nodes`` counts the simulations of this search.

    Values are for the side to move: 1 for a win, 0 for a draw, -1 for a loss.
    """

    visits: tuple[int, ...]  #: [7] visits of each column, including the kept subtree's
    values: tuple[float | None, ...]  #: [7] mean results, exact if proven; None without visits
    proven: int | None  #: 1, 0 or -1 if the result of perfect play is proven


class TreeAgent(SearchingAgent):
    """Base class of agents that grow a tree by simulations until a budget is spent.

    For a position one or two plies after the last searched position, the agent keeps the subtree of
    the new position and adds simulations. The result depends only on the seed and on the positions
    searched since :meth:`reset`. A second search of the last position returns the same result.

    The first limit reached ends the search; without ``simulations`` and ``movetime``, the class has
    a default. A kept tree gets all these simulations in addition. With ``reuse``, half of
    ``tree_mb`` is for copying. When the tree is full, simulations go on from the existing leaves.
    """

    default_simulations: ClassVar[int]  # simulations for each move without a movetime
    slice: int  # simulations between two checks of the clock and of Ctrl-C

    def __init__(
        self, simulations: int | None, movetime: float | None, reuse: bool, tree_mb: int
    ) -> None:
        if simulations is None and movetime is None:
            simulations = self.default_simulations
        self.simulations = simulations
        self.movetime = movetime
        self.reuse = reuse
        self._capacity = (tree_mb << 20) // NODE.itemsize // (2 if reuse else 1)
        self._tree = self._spare = np.empty(0, NODE)  # allocated by the first search
        self._search = np.zeros(1, SEARCH)
        self._board = Position()  # another board refuses a pickle of it
        self._root: Position | None = None
        self._result: TreeResult | None = None
        self.reset()

    def reset(self, seed: int | np.random.SeedSequence | None = None) -> None:
        """Begin a new game without a tree; the same seed gives the same random numbers."""
        if not isinstance(seed, np.random.SeedSequence):
            seed = np.random.SeedSequence(seed)
        self._seed = seed
        self._root = self._result = None

    def search(self, position: Position) -> TreeResult:
        """Return the column to play, the value of each column, and the principal variation."""
        require_move(position)
        if self._result is None or self._root != position:
            started = time.perf_counter()
            node = self._find(position) if self.reuse else None
            # An interrupted search leaves an inconsistent tree.
            self._root = self._result = None
            self._take_root(node)
            self._result = self._read(position, self._run(position, started))
            self._root = position
        self.nodes = self._result.nodes
        return self._result

    def __getstate__(self) -> dict[str, Any]:
        """Return the state of a copy, with only the used part of the tree."""
        used = int(self._search["used"][0]) if self.reuse and self._root is not None else 0
        return vars(self) | {"_tree": self._tree[:used].copy(), "_spare": np.empty(0, NODE)}

    def close(self) -> None:
        """Give the memory of the tree back, until the next search."""
        self._root = self._result = None
        self._tree = self._spare = np.empty(0, NODE)

    @abc.abstractmethod
    def _prepare(self, position: Position) -> None:
        """Prepare a search of a tree whose root may still have no children."""

    @abc.abstractmethod
    def _grow(self, most: int) -> int:
        """Run ``most`` simulations, or fewer if the root is proven; return their number."""

    def _seed_at(self, position: Position) -> np.random.SeedSequence:
        """Return the seed of a position's search, which the seed and the position determine."""
        key = (*self._seed.spawn_key, position.mine, position.theirs)
        return np.random.SeedSequence(self._seed.entropy, spawn_key=key)

    def _take_root(self, node: int | None) -> None:
        """Make a node the root and keep its subtree; None begins a new tree."""
        nodes = self._tree
        if len(nodes) < self._capacity:  # not allocated yet, or a copy of the agent
            try:  # the system allocates pages when they are written
                self._tree = np.empty(self._capacity, NODE)
                self._spare = np.empty(self._capacity if self.reuse else 0, NODE)
            except MemoryError as error:
                raise InvalidOption(f"tree_mb: {error}; expected a smaller value") from None
            self._tree[: len(nodes)] = nodes
        if node is None:
            self._tree[0] = (0.0, 0, 0, 0.0, -1, 0, OPEN)
            self._search["used"] = 1
        elif node:
            self._search["used"] = copy_subtree(self._tree, node, self._spare)
            self._tree, self._spare = self._spare, self._tree

    def _expand_root(self, position: Position) -> None:
        """Add the children of the root if it has none."""
        if not self._tree[0]["children"]:
            used = int(self._search["used"][0])
            self._search["used"] = expand(self._tree, 0, position.mine, position.theirs, used)

    def _find(self, position: Position) -> int | None:
        """Return the node of a position at most two plies after the root, or None."""
        if self._root is None or not 0 <= position.plies - self._root.plies <= 2:
            return None
        nodes = [(0, self._root)]
        for _ in range(position.plies - self._root.plies):
            nodes = [
                (child, before.play(int(self._tree[child]["column"])))
                for node, before in nodes
                for child in self._children(node)
            ]
        return next((node for node, after in nodes if after == position), None)

    def _children(self, node: int) -> range:
        first = int(self._tree[node]["first"])
        return range(first, first + int(self._tree[node]["children"]))

    def _run(self, position: Position, started: float) -> int:
        """Run simulations until the budget is spent or the root proven; return their number."""
        self._search["root"] = position.mine, position.theirs
        self._prepare(position)
        self._search["deepest"] = 0
        limit = inf if self.simulations is None else self.simulations
        end = inf if self.movetime is None else started + self.movetime
        done = 0
        while done < limit:
            # Python handles Ctrl-C between slices, since kernels do not.
            most = int(min(limit - done, self.slice))
            made = self._grow(most)
            done += made
            if made < most or time.perf_counter() >= end:
                break
        return done

    def _read(self, position: Position, done: int) -> TreeResult:
        """Return the search result of the current tree."""
        line = []
        node = self._chosen()
        best = self._tree[node]
        value = self._value(node)
        assert value is not None
        while node >= 0:
            line.append(int(self._tree[node]["column"]))
            node = best_child(self._tree, node)
        visits = [0] * COLUMNS
        values: list[float | None] = [None] * COLUMNS
        if int(best["proof"]) != win_score(position.plies + 1):
            for column in position.legal_columns():  # columns without a node lose at once
                values[column] = -1.0
        for child in self._children(0):
            visits[self._tree[child]["column"]] = int(self._tree[child]["visits"])
            values[self._tree[child]["column"]] = self._value(child)
        proof = int(self._tree[0]["proof"])
        return TreeResult(
            column=line[0],
            value=value,
            nodes=done,
            depth=max(int(self._search["deepest"][0]), len(line)),
            principal_variation=tuple(line),
            visits=tuple(visits),
            values=tuple(values),
            proven=None if proof == OPEN else -sign(proof),
        )

    def _chosen(self) -> int:
        """Return the child of the root to play."""
        return int(best_child(self._tree, 0))

    def _value(self, node: int) -> float | None:
        """Return the value of a node for the side that moves into it; None if unknown."""
        total, visits, proof = (self._tree[node][name] for name in ("total", "visits", "proof"))
        if proof != OPEN:
            return float(sign(int(proof)))
        return float(total) / int(visits) + 0.0 if visits else None
