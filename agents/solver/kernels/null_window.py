"""The null-window search: decides whether a score is above alpha.

The result is one bound. A node is a *quiet* position: the side to move has no immediate win, and at
least two of its moves do not let the opponent win at once. The inner loop of :func:`search` plays
the forced moves between quiet positions in place. A position that the rules or parity decide on the
way is not a node.

For each child the search tries four methods in this order: the rules on the way to the child's
quiet position, a parity bound, the table, and a recursive search. The recursive searches begin with
the move of highest priority (:func:`move_priority`).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from c4env.agents.search.threads import LIMIT, NEVER, NODES, STOPPED, WORDS
from c4env.arrays import Int64s
from c4env.jit import kernel

from ....bitboard import (
    CELLS,
    COLUMNS,
    ROWS,
    STRIDE,
    UP,
    mirror,
    playable,
    popcount,
    safe_moves,
    win_score,
    winning_cells,
)
from ...search.lowlevel import POINTER, trailing_zeros
from ...search.packing import board_key
from .bounds import even_claim, odd_claim
from .table import (
    MARKS,
    buckets,
    fetch,
    lower_bound,
    mix,
    probe,
    store,
    upper_bound,
)

# Words of a thread's workspace, after the words of ``c4env.agents.search.threads``.
EPOCH: Final = 2
MASK: Final = 3  # number of buckets of the table, minus one
SHARED_PLIES: Final = 4  # threads share nodes with fewer plies; 0: a single thread
DEEPEST: Final = 5  # frame of the deepest shared node on the thread's path, or 0
SETTLED: Final = 6  # frame of an ancestor that another thread has settled, or 0
SPENT: Final = 7  # nodes that the position's own score took; -1 if unknown

# A frame has the children of a node, CHILD words each, and from ORDER on the children's numbers.
CHILD: Final = 8
ORDER: Final = CHILD * COLUMNS
FRAME: Final = ORDER + -(-COLUMNS // CHILD) * CHILD  # a multiple of 8 words, a line of the cache
FRAMES: Final = WORDS  # the first of CELLS + 1 frames, one for each ply
WORKSPACE: Final = FRAMES + FRAME * (CELLS + 1)

NUMBERS: Final = 1 << COLUMNS.bit_length()  # factor of the priority, above a child's number
MINE, THEIRS, MY_WINS, THEIR_WINS, PLIES, MIXED = range(6)
# In words that children leave free, a shared node keeps the frame of the shared node above it, and
# its own mixed key and alpha.
ABOVE, KEY, ALPHA = CHILD - 2, CHILD - 1, 2 * CHILD - 1

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

UNDECIDED: Final = 99


def reset_workspace(work: Int64s, table: Int64s, epoch: int) -> None:
    """Prepare a workspace for a search with a table and an epoch."""
    work[NODES] = 0
    work[LIMIT] = NEVER
    work[EPOCH] = epoch
    work[MASK] = (len(table) - MARKS) // 2 - 1
    work[SHARED_PLIES] = work[DEEPEST] = work[SETTLED] = work[STOPPED] = 0
    work[SPENT] = -1


@kernel("int64(int64, int64, int64)")
def hashed(mine: int, theirs: int, plies: int) -> int:
    """Return a position's mixed key; mirror images share it up to ``MIRROR_PLIES`` discs."""
    key = board_key(mine, theirs)
    if plies <= MIRROR_PLIES:
        key = min(key, mirror(key))
    return mix(key)


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
        + int(CELL_VALUES[trailing_zeros(cell)])
    )


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


@kernel(f"int64({POINTER}, {POINTER}, int64, int64, int64)")
def settled_above(table: Any, work: Any, mask: int, epoch: int, frame: int) -> int:
    """Return the frame of the topmost ancestor that another thread has settled, or 0.

    Only ancestors that several threads search are looked up in the table.
    """
    found = 0
    frame = int(work[frame + ABOVE])
    while frame:
        entry = probe(table, mask, epoch, int(work[frame + KEY]))
        if entry:
            alpha = int(work[frame + ALPHA])
            if lower_bound(entry) > alpha or upper_bound(entry) <= alpha:
                found = frame
        frame = int(work[frame + ABOVE])
    return found


@kernel(f"int64({POINTER}, {POINTER}, int64, int64, int64, int64, int64, int64, int64)")
def search(
    table: Any,
    work: Any,
    mine: int,
    theirs: int,
    my_wins: int,
    their_wins: int,
    plies: int,
    alpha: int,
    mixed: int,
) -> int:
    """Return a lower bound above ``alpha``, or an upper bound, on a quiet position's score.

    ``my_wins`` and ``their_wins`` are winning cells, occupied or not; ``mixed`` is the mixed key.
    Once ``work[NODES]`` reaches ``work[LIMIT]``, the result is meaningless, and the search writes
    nothing more to the table.
    """
    begun = int(work[NODES])
    if begun >= work[LIMIT]:
        return 0
    work[NODES] = begun + 1
    whole = int(work[MASK])
    mask = buckets(whole, plies)
    epoch = int(work[EPOCH])
    if plies <= TABLE_PLIES:
        entry = probe(table, mask, epoch, mixed)
        if entry:
            bound = lower_bound(entry)
            if bound > alpha:
                return bound
            bound = upper_bound(entry)
            if bound <= alpha:
                return bound

    # No side wins with either of the next two discs.
    greatest = win_score(plies + 3)
    least = -win_score(plies + 4)
    best = least
    moves = playable(mine | theirs) & ~(their_wins >> UP)  # quiet: no threat to answer
    frame = FRAMES + FRAME * plies
    count = 0
    while moves:
        cell = moves & -moves
        moves ^= cell
        # The child, seen from its side to move: a, b, their winning cells, and a's alpha.
        a = theirs
        b = mine | cell
        a_wins = their_wins
        b_wins = winning_cells(b)
        depth = plies + 1
        a_alpha = -alpha - 1
        value = UNDECIDED
        while True:
            replies = playable(a | b)
            safe = safe_moves(replies, b_wins)
            if safe == 0:
                value = -win_score(depth + 2)  # b wins with its next disc; or a draw
                break
            bound = win_score(depth + 3)
            if bound <= a_alpha:
                value = bound
                break
            bound = -win_score(depth + 4)
            if bound > a_alpha:
                value = bound
                break
            if safe & (safe - 1):
                value = parity_bound(a, b, a_wins, b_wins, replies, depth, a_alpha)
                break
            a, b = b, a | safe
            a_wins, b_wins = b_wins, winning_cells(b)
            depth += 1
            a_alpha = -a_alpha - 1
        swapped = (depth - plies) & 1
        if value != UNDECIDED:
            if swapped:
                value = -value
            if value > alpha:
                return value
            best = max(best, value)
            continue
        child = frame + count * CHILD
        if depth <= TABLE_PLIES:
            child_mixed = hashed(a, b, depth)
            fetch(table, buckets(whole, depth), child_mixed)
            work[child + MIXED] = child_mixed
        work[child + MINE] = a
        work[child + THEIRS] = b
        work[child + MY_WINS] = a_wins
        work[child + THEIR_WINS] = b_wins
        work[child + PLIES] = depth
        if swapped:
            value = move_priority(cell, depth - plies, b_wins, a_wins, a | b, replies)
        else:
            value = move_priority(cell, depth - plies, a_wins, b_wins, a | b, replies)
        value = value * NUMBERS + count
        slot = frame + ORDER + count
        while slot > frame + ORDER and work[slot - 1] < value:
            work[slot] = work[slot - 1]
            slot -= 1
        work[slot] = value
        count += 1

    if plies < CUTOFF_PLIES:
        for i in range(count):
            child = frame + i * CHILD
            depth = int(work[child + PLIES])
            if depth > TABLE_PLIES:  # a long forced line led beyond the table's plies
                continue
            entry = probe(table, buckets(whole, depth), epoch, int(work[child + MIXED]))
            if entry:
                swapped = (depth - plies) & 1
                value = -upper_bound(entry) if swapped else lower_bound(entry)
                if value > alpha:
                    store(table, mask, epoch, mixed, value, greatest, 1)
                    return value

    # Threads avoid each other's nodes: a child that another thread has marked comes last,
    # when the table may know it.
    shared = plies < work[SHARED_PLIES]
    busy = 2 * (whole + 1)
    put_off = 0
    if shared:
        work[frame + ABOVE] = work[DEEPEST]
        work[frame + KEY] = mixed
        work[frame + ALPHA] = alpha
        work[DEEPEST] = frame
    i = 0
    while i < count or put_off:
        if i < count:
            index = int(work[frame + ORDER + i]) & (NUMBERS - 1)
            i += 1
        else:
            index = trailing_zeros(put_off)
            put_off &= put_off - 1
        child = frame + index * CHILD
        child_mixed = int(work[child + MIXED])
        depth = int(work[child + PLIES])
        if shared:
            mark = busy + (child_mixed & (MARKS - 1))
            if 1 < i < count and table[mark] == child_mixed:
                put_off |= 1 << index
                continue
            table[mark] = child_mixed
        swapped = (depth - plies) & 1
        value = search(
            table,
            work,
            int(work[child + MINE]),
            int(work[child + THEIRS]),
            int(work[child + MY_WINS]),
            int(work[child + THEIR_WINS]),
            depth,
            -alpha - 1 if swapped else alpha,
            child_mixed,
        )
        if shared:
            table[busy + (child_mixed & (MARKS - 1))] = 0
            # Another thread may have settled this node or an ancestor meanwhile.
            entry = probe(table, mask, epoch, mixed)
            if entry and (lower_bound(entry) > alpha or upper_bound(entry) <= alpha):
                work[DEEPEST] = work[frame + ABOVE]
                if work[SETTLED] == frame:
                    work[SETTLED] = 0
                bound = lower_bound(entry)
                return bound if bound > alpha else upper_bound(entry)
            if work[SETTLED] == 0:
                work[SETTLED] = settled_above(table, work, mask, epoch, frame)
            elif work[SETTLED] == frame:  # its entry is lost, and the child's search was abandoned
                work[SETTLED] = 0
                put_off |= 1 << index
                continue
            if work[SETTLED]:
                work[DEEPEST] = work[frame + ABOVE]
                return 0
        if swapped:
            value = -value
        if value > best:
            best = value
            if best > alpha:
                break
    if shared:
        work[DEEPEST] = work[frame + ABOVE]
    nodes = int(work[NODES])
    if nodes >= work[LIMIT]:
        return 0
    if plies <= TABLE_PLIES:
        if best > alpha:
            store(table, mask, epoch, mixed, best, greatest, nodes - begun)
        else:
            store(table, mask, epoch, mixed, least, best, nodes - begun)
    return best
