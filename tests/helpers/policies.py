"""Simple players, for tests of what asks them."""

from typing import Any

import numpy as np

from c4env import Observation, Position, agents, batched
from c4env.envs.batch import observed


def first_legal(observation: Observation) -> int:
    """The leftmost legal column."""
    return int(np.flatnonzero(observation["action_mask"])[0])


@batched
def rightmost(observation: Observation) -> Any:
    """The rightmost legal columns of many boards."""
    return 6 - observation["action_mask"][:, ::-1].argmax(axis=1)


class Drawn(agents.Agent):
    """Draws a column from its generator, and the more the longer it has drawn."""

    def reset(self, seed: int | np.random.SeedSequence | None = None) -> None:
        self._generator = np.random.default_rng(seed)

    def choose(self, position: Position) -> int:
        return int(self._generator.choice(position.legal_columns()))


class DrawnMany(agents.BatchAgent):
    """Draws a legal column on each of many boards by the board's seed."""

    def choose_many(self, discs: Any, seeds: Any) -> Any:
        masks = observed(discs)["action_mask"]
        return (masks * ((seeds[:, None] >> 4 * np.arange(7)) % 16 + 1)).argmax(axis=1)


class PlaysLeft:
    """A mixin that brings another choice."""

    def choose(self, position: Position) -> int:
        return position.legal_columns()[0]


def uniform(planes: Any, masks: Any) -> Any:
    """A policy and value function: every column alike, and nobody ahead."""
    return np.zeros(masks.shape), np.zeros(len(masks))
