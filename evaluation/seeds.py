"""Seeds derived from names, so that a result does not depend on earlier computations."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np


def seeds(identity: Iterable[str], *numbers: int) -> np.random.SeedSequence:
    """Return a seed derived from names and numbers, for example of a game."""
    digest = hashlib.sha256("\0".join(identity).encode()).digest()
    return np.random.SeedSequence([*numbers, *map(int, np.frombuffer(digest, np.uint32))])
