"""Count windows of four cells without a loop over all 69 windows.

For a direction with bit distance ``d``, the window that starts at cell ``i`` holds the
cells ``i, i+d, i+2d, i+3d``. The AND of the board and the board shifted by ``d``, ``2d`` and
``3d`` has one bit for each full window of the direction; a popcount counts these bits.
"""

from __future__ import annotations

from c4env.jit import kernel

from ...bitboard import BOARD


@kernel("int64(int64)")
def window_starts(shift: int) -> int:
    """Return the first cells of all windows of a direction, given by its bit distance."""
    return BOARD & (BOARD >> shift) & (BOARD >> (2 * shift)) & (BOARD >> (3 * shift))


@kernel("UniTuple(int64, 4)(int64, int64, int64)")
def count_in_windows(own: int, other: int, shift: int) -> tuple[int, int, int, int]:
    """Return masks of the windows with exactly 1, 2, 3, 4 own discs and no other disc.

    A mask has the first cell of each such window in the direction of ``shift``. Two half adders and
    a full adder add the four one-bit columns ``own >> k*shift`` for all windows in parallel.
    """
    a = own
    b = own >> shift
    c = own >> (2 * shift)
    d = own >> (3 * shift)
    taken = other | (other >> shift) | (other >> (2 * shift)) | (other >> (3 * shift))
    live = window_starts(shift) & ~taken
    low_ab, high_ab = a ^ b, a & b
    low_cd, high_cd = c ^ d, c & d
    ones = low_ab ^ low_cd
    carry = low_ab & low_cd
    twos = high_ab ^ high_cd ^ carry
    fours = high_ab & high_cd
    return (
        live & ones & ~twos,
        live & twos & ~ones & ~fours,
        live & ones & twos,
        live & fours,
    )
