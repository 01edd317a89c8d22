"""The transposition table, with buckets of 16 bytes.

A bucket has two int64 slots, and a slot is a whole entry. Reads and writes of a slot are atomic, so
threads share a table without locks. An entry has, from the lowest bit::

    33 tag     the part of the mixed key above the bucket number; up to 41 on a larger board
    12 epoch   number of the entry's search; entries of other searches count as empty; or fewer
     6 lower   score + 22, a lower bound
     6 upper   score + 22, an upper bound
     6 work    length in bits of the number of nodes searched; decides which entry stays

Mixing is a bijection on 49 bits, and bucket number and tag together are the mixed key. So entries
of different positions are never confused. A new epoch empties the table without clearing memory.
A board of more bits uses some bits of the epoch for the tag, so that 64 MB are enough for every
board.
"""

from __future__ import annotations

import contextlib
import mmap
from typing import Any, Final

import numpy as np

from c4env.agents.search.lowlevel import POINTER, bit_length, board_key, prefetch
from c4env.arrays import Int64s
from c4env.bitboard import BITS, CELLS, mirror
from c4env.errors import InvalidOption
from c4env.jit import kernel

TAG_BITS: Final = min(max(33, BITS - 16), 41)
EPOCH_SHIFT: Final = TAG_BITS
LOWER_SHIFT: Final = 33 + 12
UPPER_SHIFT: Final = LOWER_SHIFT + 6
WORK_SHIFT: Final = UPPER_SHIFT + 6
LAST_EPOCH: Final = (1 << (LOWER_SHIFT - EPOCH_SHIFT)) - 1
SIGNATURE: Final = (1 << LOWER_SHIFT) - 1  # tag and epoch
BIAS: Final = CELLS // 2 + 1  # added to a score before it is stored
FIELD: Final = 63  # the bits of a bound
NO_SCORE: Final = -99  # for a column that cannot be played; less than any score

KEY_BITS: Final = BITS
TAG_SHIFT: Final = max(KEY_BITS - TAG_BITS, 0)  # the bits below the tag are the bucket number
KEY_MASK: Final = (1 << KEY_BITS) - 1
MIX: Final = 0x1A85EC53A9F2D  # odd, so that multiplying by it is a bijection modulo 2**49
FOLD: Final = 25  # shift that folds the upper bits onto the lower, a bijection too
BYTES_PER_BUCKET: Final = 16
WIDE_PLIES: Final = CELLS - 18  # 24: up to here positions use all buckets
NEAR_MASK: Final = (1 << max(16, TAG_SHIFT)) - 1  # later positions use a megabyte


@kernel("int64(int64, int64)")
def position_key(mine: int, theirs: int) -> int:
    """Return the 49-bit key that a position shares only with its mirror image."""
    key = board_key(mine, theirs)
    return min(key, mirror(key))


@kernel("int64(int64)")
def mix(key: int) -> int:
    """Spread a key over the buckets by a bijection on 49 bits."""
    key = (key * MIX) & KEY_MASK
    return key ^ (key >> FOLD)


@kernel("int64(int64, int64)")
def bucket_mask(mask: int, plies: int) -> int:
    """Return the mask of the buckets that positions of ``plies`` discs use, part of ``mask``.

    Deep positions use few buckets, which stay in the processor's cache. To read a bucket from main
    memory would take longer than to search a deep position again.
    """
    return mask if plies <= WIDE_PLIES else mask & NEAR_MASK


@kernel("int64(int64)")
def lower_bound(entry: int) -> int:
    """Return the lower bound in an entry."""
    return ((entry >> LOWER_SHIFT) & FIELD) - BIAS


@kernel("int64(int64)")
def upper_bound(entry: int) -> int:
    """Return the upper bound in an entry."""
    return ((entry >> UPPER_SHIFT) & FIELD) - BIAS


@kernel(f"void({POINTER}, int64, int64)")
def fetch(table: Any, mask: int, mixed: int) -> None:
    """Prefetch the bucket of a mixed key into the processor's cache."""
    prefetch(table, (mixed & mask) << 1)


@kernel(f"int64({POINTER}, int64, int64, int64)")
def probe(table: Any, mask: int, epoch: int, mixed: int) -> int:
    """Return the entry of a mixed key, or 0; ``mask`` is from :func:`bucket_mask`."""
    place = (mixed & mask) << 1
    signature = (mixed >> TAG_SHIFT) | (epoch << EPOCH_SHIFT)
    entry = int(table[place])
    if entry & SIGNATURE == signature:
        return entry
    entry = int(table[place + 1])
    if entry & SIGNATURE == signature:
        return entry
    return 0


@kernel(f"void({POINTER}, int64, int64, int64, int64, int64, int64)")
def store(
    table: Any, mask: int, epoch: int, mixed: int, lower: int, upper: int, nodes: int
) -> None:
    """Store bounds that took ``nodes`` nodes; keep the tighter of new and stored bounds.

    A bucket's first slot holds the entry that took most nodes. The second slot holds the newest of
    the other entries.
    """
    place = (mixed & mask) << 1
    signature = (mixed >> TAG_SHIFT) | (epoch << EPOCH_SHIFT)
    work = bit_length(nodes)
    lower += BIAS
    upper += BIAS
    first = int(table[place])
    second = int(table[place + 1])
    slot = place
    if first & SIGNATURE == signature:
        stored = first
    elif second & SIGNATURE == signature:
        stored = second
        slot = place + 1
    else:
        stored = 0
        if (first >> EPOCH_SHIFT) & LAST_EPOCH == epoch:
            if first >> WORK_SHIFT > work:
                slot = place + 1
            else:
                table[place + 1] = first
    if stored:
        lower = max(lower, (stored >> LOWER_SHIFT) & FIELD)
        upper = min(upper, (stored >> UPPER_SHIFT) & FIELD)
        work = max(work, stored >> WORK_SHIFT)
    table[slot] = signature | (lower << LOWER_SHIFT) | (upper << UPPER_SHIFT) | (work << WORK_SHIFT)


def allocate(megabytes: int) -> Int64s:
    """Allocate an empty table of at most ``megabytes``; the number of buckets is a power of two."""
    count = 1 << (((megabytes << 20) // BYTES_PER_BUCKET).bit_length() - 1)
    if count < 1 << TAG_SHIFT:
        least = (BYTES_PER_BUCKET << TAG_SHIFT) >> 20
        raise InvalidOption(f"table_mb={megabytes}: expected {least} or more for this board")
    # Private: a fork of the process must not write into this table, and Linux gives large pages to
    # private memory only. Windows has no flags, and no forks.
    flags = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}
    try:
        memory = mmap.mmap(-1, count * BYTES_PER_BUCKET, **flags)
    except (OSError, OverflowError) as error:
        raise InvalidOption(f"table_mb={megabytes}: {error}; expected a smaller value") from None
    if hasattr(mmap, "MADV_HUGEPAGE"):
        # Large pages save a tenth of the time of a hard search; the system may lack them.
        with contextlib.suppress(OSError):
            memory.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(memory, dtype=np.int64)
