"""Openings: where the games of a run begin.

Deterministic agents repeat themselves from one starting position, so a run enumerates
openings without replacement: all positions after k plies, one of each mirror pair.
"""

from __future__ import annotations

from typing import Final

from c4env.position import Position, format_moves
from evaluation.errors import InvalidRun

MAX_PLIES: Final = 6  # 8,231 openings; beyond that a round robin is out of reach


def canonical(position: Position) -> Position:
    """The position or its mirror image, whichever has the smaller bitboards."""
    mirrored = position.mirror()
    return min(position, mirrored, key=lambda p: (p.mine, p.theirs))


def enumerate_openings(plies: int) -> list[str]:
    """Move strings of all positions after ``plies`` discs, mirror images counted once.

    Each position is given by its lexicographically first game, and they come in that
    order: 1, 4, 25, 121, 568, 2144 or 8231 openings for 0..6 plies.

    Raises:
        InvalidRun: not an integer 0..6.
    """
    if isinstance(plies, bool) or not isinstance(plies, int) or not 0 <= plies <= MAX_PLIES:
        raise InvalidRun(f"openings={plies!r}: expected a number of plies 0..{MAX_PLIES}")
    layer = {Position(): ""}
    for _ in range(plies):
        following: dict[Position, str] = {}
        seen: set[Position] = set()
        for position, moves in layer.items():
            for column in position.legal_columns():
                child = position.play(column)
                if canonical(child) not in seen:
                    seen.add(canonical(child))
                    following[child] = moves + format_moves([column])
        layer = following
    return list(layer.values())
