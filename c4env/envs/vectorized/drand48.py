"""Random numbers for kernels: the 48-bit linear congruential generator of POSIX ``drand48``."""

from __future__ import annotations

from typing import Final

from c4env.jit import kernel

STATES: Final = 1 << 48  # a state is a number below


@kernel("int64(int64)")
def next_random(state: int) -> int:
    """The state after this one."""
    return (state * 25214903917 + 11) & (STATES - 1)


@kernel("int64(int64, int64)")
def below(state: int, count: int) -> int:
    """A number from 0 to ``count - 1``, at most 2**31, by the upper 31 bits of a state."""
    return ((state >> 17) * count) >> 31
