"""Plies a second on many boards, and how they grow with the number of boards.

The time is that of ``step`` alone, observations and masks included, with random legal moves
chosen outside the clock.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from c4env.agents.pool import Pool
from c4env.arrays import Int8s, Int64s
from c4env.envs.vector import ConnectFourVectorEnv
from c4env.evaluation.tables import Table
from tests.benchmarks.harness import in_turns

SIZES: Final = (1, 16, 256, 1024, 4096, 16_384, 65_536)
WARM_UP: Final = 30  # steps until the boards are of all ages

MODES: Final[dict[str, dict[str, Any]]] = {
    "self-play": {},
    "self-play, copy=False": {"copy": False},
    "self-play, same-step autoreset": {"autoreset_mode": "SameStep"},
    "against random": {"opponent": "random"},
    "against greedy": {"opponent": "greedy"},
    "against a pool of both": {"opponent": {"random": 1, "greedy": 1}},
}
"""What is measured, by name: arguments of the environment; of a pool, its weights."""


def run(sizes: Sequence[int] = SIZES, seconds: float = 0.1, repeat: int = 3) -> Table:
    """Time every mode at every size of ``sizes``, ``seconds`` a repetition; the best counts.

    A step is one of a single board: a ply in self-play, a ply and its answer against an opponent.
    A finished board's step that only resets it is not counted.
    """
    speeds: dict[str, dict[int, float]] = {}
    for size in sizes:
        for name, found in in_turns(works(size, seconds), repeat).items():
            speeds.setdefault(name, {})[size] = max(found)
    rows = [
        [name, *(found[size] / 1e6 if size in found else None for size in sizes)]
        for name, found in speeds.items()
    ]
    return Table.of(
        {"million steps/s by boards": "", **{f"{size:,}": ".3g" for size in sizes}}, rows
    )


def works(size: int, seconds: float) -> dict[str, Callable[[int], float]]:
    """Of every mode: what measures its steps a second, given a seed."""
    return {name: partial(_speed, size, arguments, seconds) for name, arguments in MODES.items()}


def _speed(size: int, arguments: dict[str, Any], seconds: float, seed: int) -> float:
    """Counted steps of single boards a second."""
    opponent = arguments.get("opponent")
    if isinstance(opponent, dict):
        arguments = {**arguments, "opponent": Pool(opponent)}
    environment = ConnectFourVectorEnv(size, **arguments)
    skips = environment.metadata["autoreset_mode"].value == "NextStep"
    generator = np.random.default_rng(seed)
    masks = environment.reset(seed=seed)[0]["action_mask"]
    over, steps, spent, warm = 0, 0, 0.0, WARM_UP
    while spent < seconds:
        actions = random_columns(masks, generator)
        start = time.perf_counter()
        observation, _, terminated, _, _ = environment.step(actions)
        elapsed = time.perf_counter() - start
        masks, moved = observation["action_mask"], size - over
        over = int(np.count_nonzero(terminated)) if skips else 0
        if warm:
            warm -= 1
        else:
            spent += elapsed
            steps += moved
    return steps / spent


def random_columns(masks: Int8s, generator: np.random.Generator) -> Int64s:
    """A random legal column ``[N]`` of each board, 0 where there is none; masks ``[N, 7]``."""
    chance = 1 - generator.random(masks.shape, np.float32)  # more than 0
    return np.asarray((chance * masks).argmax(1))
