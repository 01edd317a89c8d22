"""The sequential probability ratio test, which ends a match as soon as the result is clear.

The unit is a pair of games from one opening with the colours swapped, so the advantage of an
opening cancels out. A pair scores 0, 1/2, 1, 3/2 or 2 points for the first agent. The test uses the
counts of these five results (the pentanomial).

The hypotheses say that the first agent is ``h0`` or ``h1`` Elo stronger, in the logistic Elo of the
ratings. The log likelihood ratio is generalised: a hypothesis is as likely as the
likeliest distribution of pair results with the expected mean score. Wald's bounds keep the error
rates near ``alpha`` (accept H1 although H0 is true) and ``beta`` (accept H0 although H1 is true).

Source: Michel Van den Bergh's notes on Fishtest's mathematics ("The generalized maximum
likelihood ratio for the expectation value of a distribution", "Normalized Elo"); Fishtest and
fastchess compute the same ratio in their logistic model.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from c4env.errors import InvalidOption
from c4env.evaluation.ratings.fit import Interval

Decision = Literal["H0", "H1"]
"""The hypothesis that a test accepts."""

SCORES: Final = np.array([0, 0.25, 0.5, 0.75, 1])  # points per game in each kind of pair
_UNSEEN: Final = 1e-3  # count for a kind of pair that has not occurred, as in Fishtest
_STEPS: Final = 50
_NORMALIZED: Final = 800 / math.log(10)  # normalized Elo of one standard deviation of a game
_NORMAL: Final = 1.959963984540054  # quantile of the normal distribution for 95 %
_MOST: Final = 1000  # the greatest Elo of a hypothesis


@dataclass(frozen=True, slots=True)
class Sprt:
    """A sequential test between two Elo differences.

    Attributes:
        h0: the Elo difference under H0, in logistic Elo.
        h1: the Elo difference under H1, greater than ``h0``.
        alpha: probability of accepting H1 if H0 is true.
        beta: probability of accepting H0 if H1 is true.

    Raises:
        InvalidOption: ``h0`` is not below ``h1``, an Elo difference is not in -1000..1000, or a
            probability is not between 0 and 1/2.
    """

    h0: float
    h1: float
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        ordered = -_MOST <= self.h0 < self.h1 <= _MOST
        if not ordered or expected_score(self.h0) == expected_score(self.h1):
            raise InvalidOption(
                f"sprt {self.h0:g},{self.h1:g}: expected H0,H1 in Elo, the smaller first, "
                f"within {-_MOST}..{_MOST}"
            )
        for name, chance in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 < chance < 0.5:
                raise InvalidOption(f"{name}={chance:g}: expected a probability between 0 and 0.5")

    @classmethod
    def parse(cls, text: str, alpha: float = 0.05, beta: float = 0.05) -> Sprt:
        """Parse ``H0,H1``, two Elo differences."""
        try:
            h0, h1 = map(float, text.split(","))
        except ValueError:
            raise InvalidOption(f"sprt {text!r}: expected H0,H1 in Elo, such as 0,40") from None
        return cls(h0, h1, alpha, beta)

    @classmethod
    def of(cls, given: Sprt | str) -> Sprt:
        """Return a test, or parse a test that is written as on the command line, ``"0,40"``."""
        if isinstance(given, str):
            return cls.parse(given)
        if not isinstance(given, cls):
            raise InvalidOption(f"sprt={given!r}: expected '0,40' or Sprt(0, 40)")
        return given

    @property
    def bounds(self) -> tuple[float, float]:
        """The log likelihood ratios at which the test accepts H0 and H1."""
        return (
            math.log(self.beta / (1 - self.alpha)),
            math.log((1 - self.beta) / self.alpha),
        )

    def llr(self, counts: ArrayLike) -> NDArray[np.float64]:
        """The log likelihood ratio ``[...]`` of H1 to H0, given counts of pairs ``[..., 5]``."""
        seen = np.maximum(np.asarray(counts, np.float64), _UNSEEN)
        total = seen.sum(-1)
        shares = seen / total[..., None]
        likely = _likeliest(shares, np.array([expected_score(elo) for elo in (self.h0, self.h1)]))
        ratio = (shares * np.log(likely[..., 1, :] / likely[..., 0, :])).sum(-1)
        return np.asarray(total * ratio)

    def decide(self, counts: ArrayLike) -> Decision | None:
        """Return the hypothesis to accept after counts of pairs ``[5]``; None to play on."""
        low, high = self.bounds
        llr = float(self.llr(counts))
        return "H0" if llr <= low else "H1" if llr >= high else None

    def conclusion(self, decision: Decision, other: str) -> str:
        """Return a phrase for what a decision shows about the first agent.

        Accepting H0 only rejects H1, and accepting H1 only rejects H0.
        """
        value, side = (self.h0, 1) if decision == "H1" else (self.h1, -1)
        if value * side > 0:
            return compared(value, other, "more than ")
        if not value and side > 0:
            return f"stronger than {other}"
        return f"not {compared(value, other)}"


def compared(elo: float, other: str, more: str = "") -> str:
    """Return a phrase for an Elo difference, such as ``30 Elo stronger than greedy``."""
    if not elo:
        return f"as strong as {other}"
    return f"{more}{abs(elo):g} Elo {'stronger' if elo > 0 else 'weaker'} than {other}"


def expected_score(elo: float) -> float:
    """The expected points per game, 0..1, of an agent that is ``elo`` stronger."""
    return 1 / (1 + 10 ** (-elo / 400))


def normalized_elo(counts: ArrayLike) -> Interval | None:
    """Return the normalized Elo of counts of pairs ``[5]``; None if all pairs score the same.

    Normalized Elo measures the score minus 1/2 in standard deviations of a game, and depends less
    than Elo on the share of draws. The interval is the interval of a normally distributed mean, as
    in fastchess.
    """
    counts = np.asarray(counts, np.float64)
    pairs = counts.sum()
    if np.count_nonzero(counts) < 2:
        return None
    mean = float(counts @ SCORES / pairs)
    variance = float(counts @ (SCORES - mean) ** 2 / pairs)  # of a pair's points per game
    scale = _NORMALIZED / math.sqrt(2 * variance)
    middle, half = scale * (mean - 0.5), scale * _NORMAL * math.sqrt(variance / pairs)
    return Interval(middle, middle - half, middle + half)


def score_of(difference: Interval, score: float | None) -> Interval:
    """Return the points per game, 0..1, by an Elo difference; None means no games."""
    value = 0.5 if score is None else score
    low, high = (expected_score(end) for end in difference[1:])
    return Interval(value, min(low, value), max(high, value))


def _likeliest(shares: NDArray[np.float64], means: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the likeliest distributions ``[..., means, 5]`` with the given mean scores.

    A distribution is ``shares / (1 + t (score - mean))``, with ``t`` chosen for the given mean.
    Newton's method finds ``t`` within an interval that shrinks at each step. If a step would leave
    the interval, the method takes the middle of the interval instead.
    """
    away = SCORES - means[:, None]
    weighted = shares[..., None, :] * away
    inside = -(1 - 1e-12)  # at the end of the range, a share is divided by 0
    low = np.broadcast_to(inside / away[:, -1], weighted.shape[:-1])
    high = np.broadcast_to(inside / away[:, 0], weighted.shape[:-1])
    t = np.zeros(weighted.shape[:-1])
    for _ in range(_STEPS):
        below = 1 + t[..., None] * away
        excess, slope = (weighted / below).sum(-1), (weighted * away / below**2).sum(-1)
        low, high = np.where(excess > 0, t, low), np.where(excess > 0, high, t)
        step = t + excess / slope
        before, t = t, np.where((step >= low) & (step <= high), step, (low + high) / 2)
        if (np.abs(t - before) <= 1e-12 * (high - low + np.abs(t))).all():
            break
    return np.asarray(shares[..., None, :] / (1 + t[..., None] * away))
