"""What a match can show, before it is played: differences, and the length of a sequential test.

The two rules are for agents of nearly equal strength, whose games are independent and rarely drawn.
Draws, and openings that favour one colour, make the results of pairs differ less. Then fewer games
are enough.
"""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist
from typing import Final

from c4env.evaluation.ratings.fit import FEW
from c4env.evaluation.ratings.sprt import Sprt, expected_score

CHANCE: Final = 0.8
"""The usual power: the chance that a difference is shown, so that its 95 % interval excludes 0."""
_NORMALS: Final = NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(CHANCE)
_DEVIATION: Final = math.sqrt(1 / 8)  # of the points per game of a pair


def shown_difference(pairs: int) -> float | None:
    """Return the Elo difference that a match shows with a chance of 80 %; None if it shows none.

    Example:
        >>> [round(shown_difference(pairs) or 0) for pairs in (4, 25, 121, 568)]
        [0, 161, 64, 29]
    """
    if pairs <= FEW:
        return None
    ahead = _NORMALS * _DEVIATION / math.sqrt(pairs - FEW + 1)
    return 400 * math.log10((0.5 + ahead) / (0.5 - ahead)) if ahead < 0.5 else None


def expected_pairs(test: Sprt, midway: bool = False) -> float:
    """Return the mean number of pairs until a test decides, if H0 or H1 is true (Wald).

    The mean is greatest for a difference midway between H0 and H1. A single test takes up to three
    times as many pairs.
    """
    step = ((expected_score(test.h1) - expected_score(test.h0)) / _DEVIATION) ** 2
    low, high = test.bounds
    if midway:
        return -low * high / step
    lengths = (
        (test.alpha * high + (1 - test.alpha) * low) / (-step / 2),
        ((1 - test.beta) * high + test.beta * low) / (step / 2),
    )
    return max(lengths)


def prospect(pairs: int, test: Sprt | None = None) -> str:
    """Return a sentence on what a match of so many pairs of games can show.

    Example:
        >>> prospect(25)
        '25 openings show a difference of 161 Elo or more with 80 % chance.'
    """
    here = f"{pairs} opening{'s' if pairs > 1 else ''}"
    if test is None:
        elo = shown_difference(pairs)
        if elo is None:
            return f"{here}: too few to show a difference; 25 show {shown_difference(25):.0f} Elo."
        return (
            f"{here} show a difference of {elo:.0f} Elo or more with {100 * CHANCE:.0f} % chance."
        )
    about, most = (round(expected_pairs(test, midway)) for midway in (False, True))
    text = f"The test takes about {about} pairs if H0 or H1 is true, {most} in between"
    if most <= pairs / 2:
        return f"{text}; there are {pairs}."
    for wide in range(10, 1000, 10):
        fits = replace(test, h1=test.h0 + wide) if test.h0 + wide <= 1000 else test
        if expected_pairs(fits, midway=True) <= pairs / 2:
            return f"{text}; there are {pairs}, enough for {fits.h0:g},{fits.h1:g}."
    return f"{text}; there are only {pairs}."
