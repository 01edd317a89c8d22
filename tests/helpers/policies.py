"""Players without an opinion, for tests of what asks them."""

from typing import Any

import numpy as np

from c4env import Observation


def first_legal(observation: Observation) -> int:
    """The leftmost legal column."""
    return int(np.flatnonzero(observation["action_mask"])[0])


def uniform(planes: Any, masks: Any) -> Any:
    """A policy and value function: every column alike, and nobody ahead."""
    return np.zeros(masks.shape), np.zeros(len(masks))
