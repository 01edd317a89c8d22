"""Seconds per move on many boards.

The clock runs over the whole loop: the choice of random legal moves, ``step`` and its resets.
"""

from typing import Any, Final

import numpy as np

from c4env.arrays import Int8s, Int64s
from c4env.envs.vector import ConnectFourVectorEnv
from tests.benchmarks.harness import seconds_each

WARM_UP: Final = 30  # steps until the boards are of all ages


def loop(size: int, arguments: dict[str, Any], seconds: float, seed: int) -> float:
    """Seconds per move of the caller on one board, which in self-play moves for both players.

    A finished board's step that only resets it takes time, and is no move.
    """
    environment = ConnectFourVectorEnv(size, **arguments)
    skips = environment.metadata["autoreset_mode"].value == "NextStep"
    generator = np.random.default_rng(seed)
    masks, over = environment.reset(seed=seed)[0]["action_mask"], 0

    def step() -> int:
        nonlocal masks, over
        observation, _, ended, _, _ = environment.step(random_columns(masks, generator))
        masks, moves = observation["action_mask"], size - over
        over = int(np.count_nonzero(ended)) if skips else 0
        return moves

    for _ in range(WARM_UP):
        step()
    return seconds_each(step, seconds)


def random_columns(masks: Int8s, generator: np.random.Generator) -> Int64s:
    """A random legal column ``[N]`` of each board, 0 where there is none; masks ``[N, 7]``."""
    chance = 1 - generator.random(masks.shape, np.float32)  # more than 0
    return np.asarray((chance * masks).argmax(1))
