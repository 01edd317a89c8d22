"""The replay buffer of self-play, which has each position once, with targets to learn from.

Games from one start meet the same positions again and again. A network with few steps to learn
gains more from other positions than from copies, so a position that comes again changes its
targets instead.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from c4env.agents.selfplay.gumbel import HASH
from c4env.agents.selfplay.plays import SAMPLE, Samples
from c4env.agents.solver.exam import in_exam, keys
from c4env.arrays import Int64s
from c4env.bitboard import mirror_all

SLOTS: Final = 1 << 22  # of the hash that finds a position in the buffer


class ReplayBuffer:
    """The latest ``window`` positions, of which training draws from the more recent half.

    Mirror images are one position. At least ``least`` positions count as recent.
    """

    def __init__(self, window: int, least: int) -> None:
        self.window, self.least = window, least
        self.positions = 0  # that were ever added
        self.samples: Samples = np.zeros(0, SAMPLE)  # a ring
        self._numbers = np.full(SLOTS, -1)  # of positions, by their hash

    @property
    def recent(self) -> int:
        """How many positions training draws from."""
        return min(len(self.samples), max(self.least, self.positions // 2), self.positions)

    def add(self, moves: Samples) -> None:
        """Add positions, except positions of the exam that tests agents.

        If a position is among the recent positions, its targets become the means of the old and the
        new targets.
        """
        moves = moves[~in_exam(*moves["board"].T)]
        moves = moves[np.sort(np.unique(turn_to_keys(moves), return_index=True)[1])]
        while len(self.samples) < min(self.positions + len(moves), self.window):
            longer = min(self.window, 2 * len(self.samples) + (1 << 16))
            self.samples = np.resize(self.samples, longer)
        if not len(moves):
            return
        slots = _slots_of(moves)
        numbers = self._numbers[slots]
        rows = numbers % len(self.samples)
        is_same = (self.samples["board"][rows] == moves["board"]).all(axis=1)
        again = is_same & (numbers >= self.positions - self.recent)
        self.samples[rows[again]] = mean_of(self.samples[rows[again]], moves[again])
        new = self.positions + np.arange(np.count_nonzero(~again))
        self.samples[new % len(self.samples)] = moves[~again]
        self._numbers[slots[~again]] = new
        self.positions += len(new)

    def draw(self, generator: np.random.Generator, size: int) -> Samples:
        """Return a random batch of the recent positions."""
        drawn = self.positions - 1 - generator.integers(self.recent, size=size)
        samples: Samples = self.samples[drawn % len(self.samples)]
        return samples

    def restore(self, samples: Samples, positions: int) -> None:
        """Continue with the ring of another buffer, to which ``positions`` were added."""
        self.samples, self.positions = samples, positions
        numbers = np.arange(positions - len(samples), positions)
        self._numbers[_slots_of(samples[numbers % len(samples)])] = numbers


def turn_to_keys(moves: Samples) -> NDArray[np.uint64]:
    """Mirror positions in place, so that mirror images become the same; return their keys."""
    mine, theirs = moves["board"].T
    found = keys(mine, theirs)
    turned = found != (mine * 2 + theirs).astype(np.uint64)
    moves["board"][turned] = mirror_all(moves["board"][turned])
    moves["policy"][turned] = moves["policy"][turned, ::-1]
    return found


def mean_of(old: Samples, new: Samples) -> Samples:
    """Return samples of the same positions with the means of their targets; proven ones stay."""
    mean = old.copy()
    mean["policy"] = (old["policy"] + new["policy"]) / 2
    value = np.where(new["proven"], new["value"], (old["value"] + new["value"]) / 2)
    mean["value"] = np.where(old["proven"], old["value"], value)
    mean["proven"] |= new["proven"]
    return mean


def _slots_of(moves: Samples) -> Int64s:
    slots: Int64s = (moves["board"] @ HASH >> 32) % SLOTS
    return slots
