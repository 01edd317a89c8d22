"""Choose the openings of a run: those of ``c4env.openings``, shuffled by the seed of the run.

Deterministic agents repeat the same game from the same position, so a run uses each opening once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from ...openings import Openings as Openings
from ...openings import list_openings


def choose_openings(openings: Openings, seed: int = 0, limit: int | None = None) -> list[str]:
    """Return the openings of a run, as move strings of 1-based columns.

    Args:
        openings: as for :func:`c4env.list_openings`.
        seed: the seed that shuffles the openings. A list of move strings is not shuffled.
        limit: the greatest number of openings to take after shuffling; None takes all.

    Raises:
        InvalidOption: there is no opening, an opening is wrong or repeated, or a text is malformed.
    """
    chosen = list_openings(openings)
    if isinstance(openings, str) or not isinstance(openings, Sequence):
        chosen = shuffled(chosen, seed)
    return chosen[:limit]


def shuffled(openings: Sequence[str], seed: int) -> list[str]:
    """Return the openings in a pseudo-random order, by a hash of the seed and the opening.

    The order of two openings does not depend on the other openings in the list.
    """
    return sorted(openings, key=lambda m: hashlib.sha256(f"{seed} {m}".encode()).digest())
