"""The null-window search: decides whether a score is above alpha.

The result is one bound. A node is a *quiet* position: the side to move has no immediate win, and at
least two of its moves do not let the opponent win at once. The inner loop of :func:`search` plays
the forced moves between quiet positions in place. A position that the rules or parity decide on the
way is not a node.

For each child the search tries four methods in this order: the rules on the way to the child's
quiet position, a parity bound, the table, and a recursive search. The recursive searches begin with
the move of highest priority (:func:`move_priority`).

A parity bound needs no search. A side that answers every disc with a disc on top (*follow-up*) gets
every second cell of each column. An answer always exists if the number of empty cells is even when
the other side is to move. Two plans of follow-up are used:

- *claimeven*, for the second player (:func:`even_claim`), who gets the cells of even rows, counted
  from 1, except cells that can be played at once;
- *odd threat*, for the first player (:func:`odd_claim`), who has a winning cell on an odd row that
  cannot be reached yet. The second player does not play right below this cell. When only this
  cell and the cells above it are empty, the second player is to move. So the first player gets the
  even rows, and the odd rows in the threat's own column. If the first player is to move now, it
  begins with a waiting move, in the threat's column if an odd row is playable there.

The other side gets at most its discs and the remaining cells. If these contain no four, that
side does not win. If the claimer gets a winning cell, the game ends there: cells above stay empty.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from c4env.agents.search.lowlevel import POINTER, board_key
from c4env.agents.search.threads import LIMIT, NODES, WORDS
from c4env.agents.solver.table import (
    bucket_mask,
    fetch,
    lower_bound,
    mix,
    position_key,
    probe,
    store,
    upper_bound,
)
from c4env.arrays import Int64s
from c4env.bitboard import (
    BOARD,
    BOTTOM,
    CELLS,
    COLUMNS,
    ROWS,
    STRIDE,
    UP,
    has_won,
    playable,
    popcount,
    safe_moves,
    win_score,
    winning_cells,
)
from c4env.jit import kernel
from c4env.rules import EVEN_ROWS, ODD_ROWS

# Words of a thread's workspace, after the words of ``c4env.agents.search.threads``.
EPOCH: Final = 2
MASK: Final = 3  # number of buckets of the table, minus one

# A frame has the children of a node, CHILD words each, and from ORDER on the children's numbers.
CHILD: Final = 8
ORDER: Final = CHILD * COLUMNS
FRAME: Final = ORDER + -(-COLUMNS // CHILD) * CHILD  # a multiple of 8 words, a line of the cache
ROOT: Final = WORDS  # the words of the position that a search begins with, like a child's
FRAMES: Final = ROOT + CHILD  # the first of CELLS + 1 frames, one for each ply
WORKSPACE: Final = FRAMES + FRAME * (CELLS + 1)

NUMBERS: Final = 1 << COLUMNS.bit_length()  # factor of the priority, above a child's number
MINE, THEIRS, MY_WINS, THEIR_WINS, PLIES, MIXED = range(6)

MIRROR_PLIES: Final = CELLS - 18  # 24: up to here a position and its mirror image share an entry
CUTOFF_PLIES: Final = CELLS - 14  # 28: up to here all children are probed before a search
TABLE_PLIES: Final = CELLS - 8  # 34: after this ply a search is as fast as a probe

# Weights of a move's priority, fitted to what the moves of many nodes cost.
THREAT: Final = 63
NEXT_THREAT: Final = 127
SECOND_THREAT: Final = 49
REPLY: Final = -43
CHOICE: Final = -10
FORCED: Final = 44
TURN_LOST: Final = -164
_CELL_VALUES: Final = (  # row by row from the bottom, from the outermost columns to the centre
    (-51, -28, -17, 8),
    (-30, -4, 24, 71),
    (-26, 10, 48, 94),
    (-16, 2, 37, 80),
    (-19, -7, 20, 70),
    (-44, -18, -6, 22),
)
CELL_VALUES: Final = np.array(
    [
        _CELL_VALUES[6 * min(row, ROWS - 1) // ROWS][min(column, COLUMNS - 1 - column, 3)]
        for column in range(COLUMNS)
        for row in range(STRIDE)
    ],
    dtype=np.int64,
)

SENTINELS: Final = BOTTOM << ROWS  # the bits above the columns

NO_CLAIM: Final = -1  # in place of a bound: the side's claim is not enough
UNDECIDED: Final = 99  # in place of a bound on the score


@kernel("void(int64[::1], int64[::1], int64, int64)")
def reset_workspace(work: Int64s, table: Int64s, epoch: int, limit: int) -> None:
    """Prepare a workspace for a search with a table, an epoch and a limit of nodes."""
    work[NODES] = 0
    work[LIMIT] = limit
    work[EPOCH] = epoch
    work[MASK] = len(table) // 2 - 1


@kernel("int64(int64)")
def upwards(cells: int) -> int:
    """Return the cells and all cells above them in their columns."""
    # Subtracting a column's lowest cell from the bit above the column sets all bits between.
    return (cells | (SENTINELS - cells)) & BOARD


@kernel("int64(int64, int64, int64, int64, int64, int64)")
def claim(discs: int, wins: int, others: int, empty: int, claimed: int, need: int) -> int:
    """Return a lower bound of at least ``need`` on the score of a side, or ``NO_CLAIM``.

    The side secures the empty cells ``claimed`` by follow-up. ``wins`` are the cells, occupied or
    not, that complete a four of the side. The bound 0 means that the side does not lose.
    """
    sure = wins & claimed
    score = 0
    shut = 0
    if sure:
        # Play ends in one of the winning cells. Then all other cells from the lowest winning cell
        # of each column upwards are empty. The cell below each lowest winning cell is empty too,
        # except below the cell that wins.
        shut = upwards(sure)
        score = (popcount(shut) + popcount(sure & ~(shut << UP))) >> 1
    if score < need and (need > 1 or score > 0):
        return NO_CLAIM
    if has_won(others | (empty & ~claimed & ~shut)):
        return NO_CLAIM
    if score < need and not has_won(discs | claimed):
        return NO_CLAIM
    return max(score, need)


@kernel("int64(int64, int64, int64, int64, int64)")
def even_claim(second: int, wins: int, first: int, playable: int, need: int) -> int:
    """Return the second player's bound by claimeven (see :func:`claim`); the first is to move."""
    empty = BOARD & ~(first | second)
    return claim(second, wins, first, empty, empty & EVEN_ROWS & ~playable, need)


@kernel("int64(int64, int64, int64, int64, boolean, int64)")
def odd_claim(first: int, wins: int, second: int, playable: int, waits: bool, need: int) -> int:
    """Return the first player's bound, 1 or more, by one of its odd threats (see :func:`claim`).

    ``waits`` is True if the first player is to move, and so makes a waiting move.
    """
    empty = BOARD & ~(first | second)
    threats = wins & empty & ODD_ROWS & ~playable
    while threats:
        threat = threats & -threats
        threats ^= threat
        sentinel = SENTINELS & -threat
        sentinel &= -sentinel
        column = sentinel - (sentinel >> ROWS)
        claimed = empty & ~playable & ((ODD_ROWS & column) | (EVEN_ROWS & ~column))
        if waits:
            claimed |= playable & ODD_ROWS & column
        score = claim(first, wins, second, empty, claimed, need)
        if score >= need:
            return score
    return NO_CLAIM


@kernel("int64(int64, int64, int64, int64, int64, int64, int64)")
def parity_bound(
    mine: int, theirs: int, my_wins: int, their_wins: int, moves: int, plies: int, alpha: int
) -> int:
    """Return an upper bound <= ``alpha`` or a lower bound > ``alpha`` by parity, or UNDECIDED."""
    if ROWS % 2:  # follow-up needs columns with an even number of cells
        return UNDECIDED
    if plies & 1 == 0:  # the first player is to move
        score = even_claim(theirs, their_wins, mine, moves, max(-alpha, 0))
        if score >= 0:
            return -score
        if alpha >= 0:
            score = odd_claim(mine, my_wins, theirs, moves, True, alpha + 1)
            if score >= 0:
                return score
    elif alpha < 0:
        score = odd_claim(theirs, their_wins, mine, moves, False, -alpha)
        if score >= 0:
            return -score
    return UNDECIDED


@kernel("int64(int64, int64, int64)")
def mixed_key(mine: int, theirs: int, plies: int) -> int:
    """Return a position's mixed key; mirror images share it up to ``MIRROR_PLIES`` discs."""
    return mix(position_key(mine, theirs) if plies <= MIRROR_PLIES else board_key(mine, theirs))


@kernel("int64(int64, int64, int64, int64, int64, int64)")
def move_priority(
    cell: int, forced: int, wins: int, their_wins: int, occupied: int, moves: int
) -> int:
    """Return the priority of a move by the quiet position that follows, ``forced`` plies later.

    ``wins`` are the winning cells of the side that moved. The greatest priority comes first.
    """
    # A winning cell directly above a winning cell of the other side is useless.
    useful = wins & ~occupied & ~(their_wins << UP)
    return (
        THREAT * popcount(useful)
        + NEXT_THREAT * popcount(useful & (moves << UP))
        + SECOND_THREAT * popcount(useful & (moves << (2 * UP)))
        + REPLY * popcount(moves & ~(wins >> UP))
        + CHOICE * popcount(moves & ~(their_wins >> UP))
        + FORCED * forced
        + TURN_LOST * (forced & 1)  # the other side is to move in the quiet position
        + int(CELL_VALUES[popcount(cell - 1)])
    )


@kernel(f"void({POINTER}, int64, int64, int64, int64, int64, int64)", forceinline=True)
def write_node(
    work: Any, node: int, mine: int, theirs: int, my_wins: int, their_wins: int, plies: int
) -> None:
    """Write a quiet position's words, all but its mixed key, from ``work[node]`` on."""
    work[node + MINE] = mine
    work[node + THEIRS] = theirs
    work[node + MY_WINS] = my_wins
    work[node + THEIR_WINS] = their_wins
    work[node + PLIES] = plies


@kernel(f"int64({POINTER}, int64, int64, int64, int64)", forceinline=True)
def known_bound(table: Any, mask: int, epoch: int, mixed: int, alpha: int) -> int:
    """Return the table's lower bound above ``alpha``, or upper bound, or UNDECIDED."""
    entry = probe(table, mask, epoch, mixed)
    if entry:
        bound = lower_bound(entry)
        if bound > alpha:
            return bound
        bound = upper_bound(entry)
        if bound <= alpha:
            return bound
    return UNDECIDED


@kernel("UniTuple(int64, 7)(int64, int64, int64, int64, int64)", forceinline=True)
def play_forced(
    mine: int, theirs: int, my_wins: int, plies: int, alpha: int
) -> tuple[int, int, int, int, int, int, int]:
    """Play forced moves up to a quiet position, or up to a bound by rules or parity.

    Returns the bitboards and the winning cells of both sides, the playable cells, the plies, and
    the bound for the side to move there, or UNDECIDED.
    """
    their_wins = winning_cells(theirs)
    while True:
        moves = playable(mine | theirs)
        safe = safe_moves(moves, their_wins)
        value = UNDECIDED
        if safe == 0:
            value = -win_score(plies + 2)  # the other side wins with its next disc; or a draw
        elif win_score(plies + 3) <= alpha:
            value = win_score(plies + 3)
        elif -win_score(plies + 4) > alpha:
            value = -win_score(plies + 4)
        elif safe & (safe - 1):
            value = parity_bound(mine, theirs, my_wins, their_wins, moves, plies, alpha)
        else:
            mine, theirs = theirs, mine | safe
            my_wins, their_wins = their_wins, winning_cells(theirs)
            plies += 1
            alpha = -alpha - 1
            continue
        return mine, theirs, my_wins, their_wins, moves, plies, value


@kernel(f"void({POINTER}, int64, int64, int64)", forceinline=True)
def insert_child(work: Any, frame: int, number: int, priority: int) -> None:
    """Insert a child's number among the ``number`` before it, greatest priority first."""
    value = priority * NUMBERS + number
    slot = frame + ORDER + number
    while slot > frame + ORDER and work[slot - 1] < value:
        work[slot] = work[slot - 1]
        slot -= 1
    work[slot] = value


@kernel(f"int64({POINTER}, {POINTER}, int64, int64, int64, int64)", forceinline=True)
def known_refutation(table: Any, work: Any, frame: int, count: int, plies: int, alpha: int) -> int:
    """Return a lower bound above ``alpha`` by the table's entry of a child, or UNDECIDED."""
    for i in range(count):
        child = frame + i * CHILD
        depth = int(work[child + PLIES])
        if depth <= TABLE_PLIES:  # a long forced line may lead beyond the table's plies
            mask = bucket_mask(int(work[MASK]), depth)
            entry = probe(table, mask, int(work[EPOCH]), int(work[child + MIXED]))
            if entry:
                value = -upper_bound(entry) if (depth - plies) & 1 else lower_bound(entry)
                if value > alpha:
                    return value
    return UNDECIDED


@kernel(f"UniTuple(int64, 2)({POINTER}, {POINTER}, int64, int64, int64)", forceinline=True)
def list_children(table: Any, work: Any, node: int, alpha: int, least: int) -> tuple[int, int]:
    """Write a node's undecided children to its frame; return the best bound and their number.

    The bound is at least ``least``; above ``alpha`` it ends the list.
    """
    mine, theirs = int(work[node + MINE]), int(work[node + THEIRS])
    their_wins, plies = int(work[node + THEIR_WINS]), int(work[node + PLIES])
    moves = playable(mine | theirs) & ~(their_wins >> UP)  # quiet: no threat to answer
    frame = FRAMES + FRAME * plies
    best = least
    count = 0
    while moves:
        cell = moves & -moves
        moves ^= cell
        # The quiet position seen from its side to move: a, b, and their winning cells.
        a, b, a_wins, b_wins, replies, depth, value = play_forced(
            theirs, mine | cell, their_wins, plies + 1, -alpha - 1
        )
        swapped = (depth - plies) & 1
        if value != UNDECIDED:
            best = max(best, -value if swapped else value)
            if best > alpha:
                return best, 0
            continue
        child = frame + count * CHILD
        if depth <= TABLE_PLIES:
            mixed = mixed_key(a, b, depth)
            fetch(table, bucket_mask(int(work[MASK]), depth), mixed)
            work[child + MIXED] = mixed
        write_node(work, child, a, b, a_wins, b_wins, depth)
        if swapped:
            value = move_priority(cell, depth - plies, b_wins, a_wins, a | b, replies)
        else:
            value = move_priority(cell, depth - plies, a_wins, b_wins, a | b, replies)
        insert_child(work, frame, count, value)
        count += 1
    return best, count


@kernel(f"int64({POINTER}, {POINTER}, int64, int64)")
def search(table: Any, work: Any, node: int, alpha: int) -> int:
    """Return a lower bound above ``alpha``, or an upper bound, on a quiet position's score.

    The position's words are in the workspace from ``work[node]`` on. Once ``work[NODES]`` reaches
    ``work[LIMIT]``, the result is meaningless, and the search writes nothing more to the table.
    """
    begun = int(work[NODES])
    if begun >= work[LIMIT]:
        return 0
    work[NODES] = begun + 1
    plies, mixed = int(work[node + PLIES]), int(work[node + MIXED])
    mask = bucket_mask(int(work[MASK]), plies)
    epoch = int(work[EPOCH])
    if plies <= TABLE_PLIES:
        bound = known_bound(table, mask, epoch, mixed, alpha)
        if bound != UNDECIDED:
            return bound

    # No side wins with either of the next two discs.
    greatest = win_score(plies + 3)
    least = -win_score(plies + 4)
    best, count = list_children(table, work, node, alpha, least)
    if best > alpha:
        return best
    frame = FRAMES + FRAME * plies
    if plies < CUTOFF_PLIES:
        bound = known_refutation(table, work, frame, count, plies, alpha)
        if bound != UNDECIDED:
            store(table, mask, epoch, mixed, bound, greatest, 1)
            return bound

    for i in range(count):
        child = frame + (int(work[frame + ORDER + i]) & (NUMBERS - 1)) * CHILD
        if (int(work[child + PLIES]) - plies) & 1:
            value = -search(table, work, child, -alpha - 1)
        else:
            value = search(table, work, child, alpha)
        best = max(best, value)
        if best > alpha:
            break
    nodes = int(work[NODES])
    if nodes >= work[LIMIT]:
        return 0
    if plies <= TABLE_PLIES:
        if best > alpha:
            store(table, mask, epoch, mixed, best, greatest, nodes - begun)
        else:
            store(table, mask, epoch, mixed, least, best, nodes - begun)
    return best
