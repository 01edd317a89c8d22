"""An estimate with its 95 % interval."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from c4env.arrays import Float64s

TAILS: Final = (2.5, 97.5)  # the percentiles at the ends of a 95 % interval


class Interval(NamedTuple):
    """An estimate and its 95 % interval."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, value: float, drawn: Float64s) -> Interval:
        """Return ``value`` with the middle 95 % of the draws, widened to include ``value``."""
        low, high = map(float, np.percentile(drawn, TAILS))
        return cls(float(value), min(low, float(value)), max(high, float(value)))
