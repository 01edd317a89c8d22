"""Moves a second on many boards, and how they grow with the number of boards.

The clock runs over the whole loop: the choice of random legal moves, ``step`` and its resets.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from c4env.agents.pool import Pool
from c4env.arrays import Int8s, Int64s
from c4env.envs.vector import ConnectFourVectorEnv
from c4env.evaluation.tables import Table
from tests.benchmarks.harness import in_turns, seconds_each

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
    """Time every mode at every size of ``sizes``, ``seconds`` a repetition; the best counts."""
    rows: dict[str, list[float]] = {name: [] for name in MODES}
    for size in sizes:
        works: dict[str, Callable[[int], float]] = {
            name: partial(loop, size, arguments, seconds) for name, arguments in MODES.items()
        }
        for name, found in in_turns(works, repeat).items():
            rows[name].append(1e-6 / min(found))
    return Table.of(
        {"million moves/s by boards": "", **{f"{size:,}": ".3g" for size in sizes}},
        [[name, *speeds] for name, speeds in rows.items()],
    )


def loop(size: int, arguments: dict[str, Any], seconds: float, seed: int) -> float:
    """Seconds a move of the caller on one board, which in self-play moves for both players.

    A finished board's step that only resets it takes time, and is no move.
    """
    opponent = arguments.get("opponent")
    if isinstance(opponent, dict):
        arguments = {**arguments, "opponent": Pool(opponent)}
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
