"""A match judged by what its two give away: the measure, and its sequential test.

A move *gives away* what its position was worth for the mover, by exact play, less what it is
worth after the move: a win counts 1, a draw 1/2, a loss 0. Summed over games this says nothing
new. Move by move it cancels: what one has given away less what the other has is the opening's
worth less the result, and over a pair of games from one opening with the colours swapped, the
difference of the sums *is* the difference of the points.

New is how often each could have erred: its *critical* moves, those where the legal columns
differ in win, draw and loss. So the measure is points given away per 100 critical moves. It
answers another question than Elo: who errs less where one can err, not who wins more. Which test
takes fewer games is measured in evaluation/README.md ("A match of two").

The test is a generalised sequential probability ratio test as that of Elo is, on pairs: the
difference of the two rates is nearly normal over many pairs, with a variance that is estimated
from them (of a ratio, by linearisation), and each hypothesis has its likeliest variance, as in
Student's t-test. Two pairs that were not played, in each of which one errs at its only
critical move and the other does not, keep the variance from being nothing.
"""

from __future__ import annotations

import math
from typing import ClassVar, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c4env.arrays import Float64s
from c4env.evaluation.rating.sprt import Sprt

_UNPLAYED: Final = np.array([[1, 1.0, 1, 0, 1], [1, 0, 1, 1, 1]])
_NORMAL: Final = 1.960  # standard deviations to either end of a 95 % interval


class Loss(NamedTuple):
    """Points of value given away per 100 critical moves; None where there were none."""

    one: float | None
    other: float | None
    fewer: float | None  # the other's less the one's
    low: float | None  # the 95 % interval of that
    high: float | None

    @classmethod
    def of(cls, pairs: ArrayLike) -> Loss:
        """What pairs ``(N, 5)`` say (:meth:`Sprt.of_pairs`)."""
        rows = np.asarray(pairs, np.float64).reshape(-1, 5)
        given = rows[:, [1, 3]].sum(0)
        critical = rows[:, [2, 4]].sum(0)
        one, other = (
            100 * float(g / c) if c else None for g, c in zip(given, critical, strict=True)
        )
        if one is None or other is None or len(rows) < 2:
            return cls(one, other, None, None, None)
        fewer, variance = difference(sums_of(rows).sum(0))
        freedom = len(rows) - 1
        student = _NORMAL * (1 + (_NORMAL**2 + 1) / (4 * freedom))  # nearly, of 3 or more
        wide = student * math.sqrt(variance / freedom)
        return cls(one, other, *(float(100 * v) for v in (fewer, fewer - wide, fewer + wide)))

    def rates(self) -> str:
        """Both, the one's first."""
        return " to ".join("-" if r is None else f"{r:.1f}" for r in (self.one, self.other))

    def shown(self, one: str, other: str) -> str:
        """As a sentence."""
        said = f"points given away per 100 critical moves: {self.rates()}"
        if self.fewer is None:
            return said
        return f"{said}, {one} {self.found(f' than {other}', '95 %: ')}"

    def found(self, than: str = "", what: str = "") -> str:
        """How many fewer the one gives away, or how many more, and the interval of that."""
        if self.fewer is None or self.low is None or self.high is None:
            return "too little to say"
        ends, word = (self.low, self.high), "fewer"
        if self.fewer < 0:
            ends, word = (-self.high, -self.low), "more"
        return f"{abs(self.fewer):.1f} {word}{than} ({what}{ends[0]:.1f} .. {ends[1]:.1f})"


class LossSprt(Sprt):
    """A test of how much less one gives away: ``h1`` points per 100 critical moves, or ``h0``.

    Raises:
        InvalidRun: not two numbers in order within +-100, or not chances between 0 and 1/2.
    """

    on: ClassVar[str] = "loss"
    unit: ClassVar[str] = "points"
    most: ClassVar[float] = 100
    __slots__ = ()

    def of_pairs(self, pairs: ArrayLike) -> Float64s:
        """What each of N pairs adds to the sums: 1, its figures, and their products."""
        return sums_of(np.asarray(pairs, np.float64).reshape(-1, 5))

    def llr(self, sums: ArrayLike) -> Float64s:
        """Log likelihood ratio ``(...)`` of H1 to H0, given sums ``(..., 21)`` over pairs."""
        total = np.asarray(sums, np.float64) + sums_of(_UNPLAYED).sum(0)
        fewer, variance = difference(total)
        away = [variance + (fewer - h / 100) ** 2 for h in (self.h0, self.h1)]
        return np.asarray(total[..., 0] / 2 * np.log(away[0] / away[1]))

    def states(self, points: float, other: str, more: str = "") -> str:
        """What a hypothesis says of the first agent."""
        if not points:
            return f"giving away as little as {other}"
        unit = "point" if abs(points) == 1 else "points"
        many = f"{more}{abs(points):g} {unit} {'fewer' if points > 0 else 'more'}"
        return f"giving away {many} per 100 critical moves than {other}"

    def beats(self, other: str) -> str:
        """What is known of the first agent where the difference is more than nothing."""
        return f"giving away less than {other}"


def sums_of(rows: Float64s) -> Float64s:
    """[N, 21] of pairs [N, 5]: 1, the four figures, and the products of any two of them."""
    figures = rows[:, 1:]
    products = figures[:, :, None] * figures[:, None, :]
    return np.concatenate([np.ones((len(rows), 1)), figures, products.reshape(-1, 16)], axis=1)


def difference(sums: Float64s) -> tuple[Float64s, Float64s]:
    """How much lower the first rate is ``(...)``, and the variance of that for a single pair.

    Args:
        sums: ``(..., 21)`` over pairs, of :func:`sums_of`.
    """
    count = sums[..., :1]
    mean, products = sums[..., 1:5] / count, sums[..., 5:] / count
    given, critical = mean[..., [0, 2]], mean[..., [1, 3]]
    rates = given / critical
    # A pair moves the difference by the product of its figures with these.
    weights = np.stack([1 / critical, -rates / critical], -1) * np.array([[-1], [1]])
    weights = weights.reshape(*mean.shape[:-1], 4)
    spread = products.reshape(*mean.shape[:-1], 4, 4)
    variance = np.einsum("...i,...ij,...j", weights, spread, weights)
    return rates[..., 1] - rates[..., 0], variance
