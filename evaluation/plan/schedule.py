"""List the games of a run in playing order."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

Fixture = tuple[tuple[str, str], str]
"""A game to play, ``((first, second), opening)``: the players' names and the opening."""


def opening_major(players: Sequence[str], openings: Sequence[str]) -> list[Fixture]:
    """List every game of a round robin: each pairing from each opening with both colours.

    All games of an opening come before the next opening, so a run that stops between two openings
    is balanced. Two games of a pairing that differ only in colours follow each other.
    """
    return _both_colours(list(combinations(players, 2)), openings)


def gauntlet_order(
    challengers: Sequence[str], others: Sequence[str], openings: Sequence[str]
) -> list[Fixture]:
    """List every game of a gauntlet: each challenger plays each of ``others`` with both colours."""
    return _both_colours([(one, other) for one in challengers for other in others], openings)


def _both_colours(pairings: list[tuple[str, str]], openings: Sequence[str]) -> list[Fixture]:
    return [
        (pair, opening)
        for opening in openings
        for one, other in pairings
        for pair in ((one, other), (other, one))
    ]
