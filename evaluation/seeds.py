"""Randomness keyed by identity: the same for the same names, whatever is computed beside it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np


def seeds(identity: Iterable[str], *numbers: int) -> np.random.SeedSequence:
    """The seed of something known by some names and numbers, such as the seed of a run."""
    digest = hashlib.sha256("\0".join(identity).encode()).digest()
    return np.random.SeedSequence([*numbers, *map(int, np.frombuffer(digest, np.uint32))])
