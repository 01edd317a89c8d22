"""What searches have in common: packed column orders, position keys, and machine instructions.

A packed order is an integer of ``COLUMN_BITS`` bits per column. With ``NUMBA_DISABLE_JIT=1`` every
function is plain Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from c4env import bitboard
from c4env.arrays import Int64s
from c4env.bitboard import BOTTOM, COLUMNS, popcount
from c4env.jit import config, kernel

# The type of a pointer to int64 words in a signature. A recursive kernel passes a pointer in one
# register, but an array in seven. Uncompiled kernels use the array itself.
POINTER: Final = "CPointer(int64)"
_POINTER: Final = types.CPointer(types.int64)

COLUMN_BITS: Final = COLUMNS.bit_length()
COLUMN_MASK: Final = (1 << COLUMN_BITS) - 1


def pack(columns: tuple[int, ...]) -> int:
    """Pack columns into an integer, COLUMN_BITS bits each; the first has the lowest bits."""
    return sum(column << (COLUMN_BITS * place) for place, column in enumerate(columns))


def columns_in(order: int) -> tuple[int, ...]:
    """Return the columns of a packed order; the inverse of :func:`pack`."""
    return tuple(column_at(order, place) for place in range(COLUMNS))


@kernel("int64(int64, int64)")
def column_at(order: int, place: int) -> int:
    """Return the column at an index of a packed order."""
    return (order >> (COLUMN_BITS * place)) & COLUMN_MASK


LEFT_TO_RIGHT: Final = pack(tuple(range(COLUMNS)))
CENTRE_FIRST: Final = pack(bitboard.CENTRE_FIRST)


@kernel("int64(int64, int64)")
def board_key(mine: int, theirs: int) -> int:
    """Return a number of ``c4env.bitboard.BITS`` bits that identifies the position.

    In each column the bit above the top disc is set; the bits below are the discs of ``mine``.
    """
    return mine + (mine | theirs) + BOTTOM


@kernel("int64(int64)")
def bit_length(number: int) -> int:
    """Return the number of binary digits of an integer >= 0."""
    for shift in (1, 2, 4, 8, 16, 32):  # sets all bits below the highest
        number |= number >> shift
    return popcount(number)


# This type keeps a checker from requiring the compiler's own arguments in each call.
_intrinsic: Callable[[Any], Any] = intrinsic


@_intrinsic
def _pointer(typingctx: Any, address: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(_POINTER))

    return _POINTER(types.uintp), codegen


@_intrinsic
def _prefetch(typingctx: Any, pointer: Any, index: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        # The old name, without a type: every LLVM accepts it.
        insert: Any = cgutils.get_or_insert_function
        function = insert(builder.module, kind, "llvm.prefetch")
        place = builder.bitcast(builder.gep(args[0], [args[1]]), byte)
        builder.call(function, [place, word(0), word(3), word(1)])  # for reading, keep long, data
        return context.get_dummy_value()

    return types.void(_POINTER, types.int64), codegen


if config.DISABLE_JIT:

    def pointer(array: Int64s) -> Any:
        """Return the array itself, which uncompiled kernels index."""
        return array

    def prefetch(table: Any, index: int) -> None:
        """Do nothing, since uncompiled code cannot prefetch."""

else:

    @kernel(f"{POINTER}(int64[::1])")
    def pointer(array: Int64s) -> Any:
        """Return the address of the array's words; kernels may use it while the array exists."""
        return _pointer(array.ctypes.data)

    @kernel(f"void({POINTER}, int64)")
    def prefetch(table: Any, index: int) -> None:
        """Prefetch a word of the table into the processor's cache."""
        _prefetch(table, index)
