"""Seeds derived from names, so that a result does not depend on what else is computed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np


def seeds(identity: Iterable[str], *numbers: int) -> np.random.SeedSequence:
    """The seed of something identified by names and numbers, such as a game of a run."""
    digest = hashlib.sha256("\0".join(identity).encode()).digest()
    return np.random.SeedSequence([*numbers, *map(int, np.frombuffer(digest, np.uint32))])
