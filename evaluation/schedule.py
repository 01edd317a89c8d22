"""Which games a round robin plays, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations


def opening_major(
    players: Sequence[str], openings: Sequence[str]
) -> list[tuple[tuple[str, str], str]]:
    """``((first, second), opening)`` of every game: each pairing, both colours, each opening.

    All games of one opening come before the next, so that any prefix that ends with an
    opening is a balanced event.
    """
    return [
        (pair, opening)
        for opening in openings
        for one, other in combinations(players, 2)
        for pair in ((one, other), (other, one))
    ]
