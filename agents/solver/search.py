"""The search: is a score above a limit?"""

from __future__ import annotations

from typing import Any, Final

from numba import types

from agents.solver.bounds import even_claim, odd_claim
from agents.solver.table import (
    BIAS,
    FIELD,
    LOWER_SHIFT,
    POINTER,
    UPPER_SHIFT,
    mix,
    prefetch,
    probe,
    store,
)
from c4env.bitboard import BOARD, BOTTOM, CELLS, popcount, winning_cells
from c4env.jit import kernel

# Words of a workspace: what a thread's search keeps besides the table.
NODES: Final = 0
LIMIT: Final = 1  # nodes at which the search gives up; -1 stops it at once
EPOCH: Final = 2
MASK: Final = 3  # buckets of the table, less one
FRAMES: Final = 16
FRAME: Final = 64  # words a ply
CHILD: Final = 8  # words a child
ORDER: Final = 56  # of the frame: the children to search, best first
WORKSPACE: Final = FRAMES + FRAME * (CELLS + 1)

MIRROR_PLIES: Final = 24
CUTOFF_PLIES: Final = 22
TABLE_PLIES: Final = 34

i8 = types.int64

from agents.solver.table import mirror_key


@kernel(i8(i8, i8, i8))
def hashed(mine: int, theirs: int, plies: int) -> int:
    key = mine + (mine | theirs) + BOTTOM
    if plies <= MIRROR_PLIES:
        key = min(key, mirror_key(key))
    return mix(key)


@kernel(i8(i8, i8, i8, i8, i8))
def order_score(wins: int, their: int, empty: int, playable: int, m: int) -> int:
    w = wins & empty
    t = their & empty
    # a cell right above a winning cell of the other side is of no use
    w &= ~(t << 1)
    return popcount(w) * 4 + popcount(w & (playable << 1)) * 2 + popcount(w & (playable << 2))


@kernel(i8(i8))
def log_work(nodes: int) -> int:
    # twice the binary logarithm, roughly
    w = 0
    while nodes > 1:
        nodes >>= 1
        w += 2
    return w


@kernel(types.int64(POINTER, POINTER, i8, i8, i8, i8, i8, i8, i8))
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
    if work[NODES] >= work[LIMIT]:
        return 0
    start = int(work[NODES]) + 1
    work[NODES] = start
    mask = int(work[MASK])
    epoch = int(work[EPOCH])
    if plies <= TABLE_PLIES:
        entry = probe(table, mask, epoch, mixed)
        if entry:
            lower = ((entry >> LOWER_SHIFT) & FIELD) - BIAS
            if lower > alpha:
                return lower
            upper = ((entry >> UPPER_SHIFT) & FIELD) - BIAS
            if upper <= alpha:
                return upper
    occupied = mine | theirs
    moves = (occupied + BOTTOM) & BOARD & ~(their_wins >> 1)
    best = -((40 - plies) >> 1)
    frame = FRAMES + FRAME * plies
    count = 0
    while moves:
        m = moves & -moves
        moves ^= m
        a = theirs
        b = mine | m
        wa = their_wins
        wb = winning_cells(b)
        p = plies + 1
        al = -alpha - 1
        value = 99
        while True:
            occ = a | b
            playable = (occ + BOTTOM) & BOARD
            forced = wb & playable
            safe = playable & ~(wb >> 1)
            if forced:
                safe &= forced
                if forced & (forced - 1):
                    safe = 0
            if safe == 0:
                value = -((42 - p) >> 1)
                break
            hi = (41 - p) >> 1
            if hi <= al:
                value = hi
                break
            lo = -((40 - p) >> 1)
            if lo > al:
                value = lo
                break
            if safe & (safe - 1):
                break
            c = a | safe
            a = b
            b = c
            wa, wb = wb, winning_cells(b)
            p += 1
            al = -al - 1
        if value == 99:
            # a to move, quiet
            if p & 1 == 0:
                # a is first player
                need = -al if al < 0 else 0
                s = even_claim(b, wb, a, playable, need)
                if s >= 0:
                    value = -s
                elif al >= 0:
                    s = odd_claim(a, wa, b, playable, True, al + 1)
                    if s > al:
                        value = s
            elif al < 0:
                s = odd_claim(b, wb, a, playable, False, -al)
                if s >= 0:
                    value = -s
        if value != 99:
            if (p - plies) & 1:
                value = -value
            if value > alpha:
                best = value
                return best
            best = max(best, value)
            continue
        child = frame + count * CHILD
        if p <= TABLE_PLIES:
            h = hashed(a, b, p)
            prefetch(table, (h & mask) << 1)
            work[child + 5] = h
        work[child] = a
        work[child + 1] = b
        work[child + 2] = wa
        work[child + 3] = wb
        work[child + 4] = p
        if (p - plies) & 1:
            score = order_score(wb, wa, BOARD & ~occ, playable, m)
        else:
            score = order_score(wa, wb, BOARD & ~occ, playable, m)
        # nearer the centre first among equals
        col = 0
        mm = m >> 7
        while mm:
            mm >>= 7
            col += 1
        score = (score * 8 + 3 - abs(col - 3)) * 8 + count
        slot = frame + ORDER + count
        while slot > frame + ORDER and work[slot - 1] < score:
            work[slot] = work[slot - 1]
            slot -= 1
        work[slot] = score
        count += 1
    if plies < CUTOFF_PLIES:
        for i in range(count):
            child = frame + i * CHILD
            p = int(work[child + 4])
            entry = probe(table, mask, epoch, int(work[child + 5]))
            if entry:
                if (p - plies) & 1:
                    value = BIAS - ((entry >> UPPER_SHIFT) & FIELD)
                else:
                    value = ((entry >> LOWER_SHIFT) & FIELD) - BIAS
                if value > alpha:
                    store(table, mask, epoch, mixed, value, (41 - plies) >> 1, 0)
                    return value
    for i in range(count):
        child = frame + (int(work[frame + ORDER + i]) & 7) * CHILD
        p = int(work[child + 4])
        if (p - plies) & 1:
            value = -search(
                table,
                work,
                int(work[child]),
                int(work[child + 1]),
                int(work[child + 2]),
                int(work[child + 3]),
                p,
                -alpha - 1,
                int(work[child + 5]),
            )
        else:
            value = search(
                table,
                work,
                int(work[child]),
                int(work[child + 1]),
                int(work[child + 2]),
                int(work[child + 3]),
                p,
                alpha,
                int(work[child + 5]),
            )
        if value > best:
            best = value
            if best > alpha:
                break
    if work[NODES] >= work[LIMIT]:
        return 0
    if plies <= TABLE_PLIES:
        spent = log_work(int(work[NODES]) - start + 1)
        if best > alpha:
            store(table, mask, epoch, mixed, best, (41 - plies) >> 1, spent)
        else:
            store(table, mask, epoch, mixed, -((40 - plies) >> 1), best, spent)
    return best
