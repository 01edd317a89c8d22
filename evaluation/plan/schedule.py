"""Which games a run plays, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

Fixture = tuple[tuple[str, str], str]
"""One game to be played: ``((first, second), opening)``, the names of its players."""


def opening_major(players: Sequence[str], openings: Sequence[str]) -> list[Fixture]:
    """Every game of a round robin: each pairing, both colours, each opening.

    All games of one opening come before the next, so that any prefix that ends with an
    opening is a balanced event. The two games of a colour-swapped pair stand together.
    """
    return _both_colours(list(combinations(players, 2)), openings)


def gauntlet_order(
    challengers: Sequence[str], others: Sequence[str], openings: Sequence[str]
) -> list[Fixture]:
    """Every game of a gauntlet: each challenger against each of the others, as above."""
    return _both_colours([(one, other) for one in challengers for other in others], openings)


def _both_colours(pairings: list[tuple[str, str]], openings: Sequence[str]) -> list[Fixture]:
    return [
        (pair, opening)
        for opening in openings
        for one, other in pairings
        for pair in ((one, other), (other, one))
    ]
