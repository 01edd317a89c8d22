"""Estimates with 95 % intervals, and the weights of the bootstrap that finds the intervals.

The Bayesian bootstrap (Rubin, Annals of Statistics 9, 1981) gives the units of the data, such as
openings, random weights, and computes the estimate again.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from c4env.arrays import Bools, Float64s

TAILS: Final = (2.5, 97.5)  # the percentiles at the ends of a 95 % interval
DRAWS: Final = 1000
FEW: Final = 5  # units, up to which their number says too little for Student's t
_LEAST_SUM: Final = 1e-300  # the least sum of all weights


class Interval(NamedTuple):
    """An estimate and its 95 % interval; a number that the data do not tell is nan."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, value: float, drawn: Float64s) -> Interval:
        """Return ``value`` with the middle 95 % of float64 ``[draws]``, widened to include it."""
        low, high = map(float, np.percentile(drawn, TAILS))
        return cls(float(value), min(low, float(value)), max(high, float(value)))


UNKNOWN: Final = Interval(math.nan, math.nan, math.nan)
"""The estimate of something that never happened."""


def weights_of(there: Bools, generator: np.random.Generator, draws: int = DRAWS) -> Float64s:
    """Draw random weights of mean 1 for the units of a bootstrap, and 0 where no unit is.

    The shares of the n weights have a Dirichlet distribution with the shape (n - 4) / n. A mean
    with these shares has the variance of Student's t with n - 1 degrees of freedom; exponential
    weights would give a smaller variance. Up to 5 units, the shape is 1 / n. The sum of exponential
    weights would have a gamma(n) distribution. Here it is gamma(n - 2), scaled to the mean n, by
    simulation: with gamma(n), the intervals of two agents whose 4 openings all decide held the
    truth in 87 % of cases instead of 97 %.

    Args:
        there: a mask of the units, of any shape.
        generator: the source of chance.
        draws: number of draws.

    Returns:
        the weights, ``(draws, *there.shape)``.
    """
    units, axes = int(there.sum()), tuple(range(1, there.ndim + 1))
    shares = generator.standard_gamma(
        (max(units, FEW) - 4) / max(units, 1) * there, (draws, *there.shape)
    )
    shares /= np.maximum(shares.sum(axes, keepdims=True), _LEAST_SUM)
    total = max(units - 2, 1)
    sums = generator.standard_gamma(total, (draws, *(1 for _ in axes)))
    weights: Float64s = shares * sums * (units / total)
    return weights
