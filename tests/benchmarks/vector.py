"""Plies a second on many boards, and how they grow with the number of boards.

The time is that of ``step`` alone, observations and masks included, with random legal moves
chosen outside the clock. ``TensorEnv`` is measured, on the CPU, where torch is installed, and
pgx beside ours where it is (``pip install pgx``); it spreads over all cores, so compare on one:
``taskset -c 0 python -m tests.benchmarks vector``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from c4env.agents.batched import Pool
from c4env.arrays import Int8s, Int64s
from c4env.envs.vectorized.vector import ConnectFourVectorEnv
from c4env.evaluation.tables import Table
from tests.benchmarks.harness import in_turns, peer

SIZES: Final = (1, 16, 256, 1024, 4096, 16_384, 65_536)
WARM_UP: Final = 30  # steps until the boards are of all ages

MODES: Final[dict[str, dict[str, Any]]] = {
    "self-play": {},
    "self-play, copy=False": {"copy": False},
    "self-play, copy=False, 2 threads": {"copy": False, "threads": 2},
    "self-play, same-step autoreset": {"autoreset_mode": "SameStep"},
    "against random": {"opponent": "random"},
    "against greedy": {"opponent": "greedy"},
    "against a pool of both": {"opponent": {"random": 1, "greedy": 1}},
}
"""What is measured, by name: arguments of the environment; of a pool, its weights."""

TENSOR: Final = "TensorEnv, self-play"
PGX: Final = "pgx, self-play"

Stepper = Callable[[Int64s], tuple[Int8s, int, float]]
"""Plays a column on each board; gives the masks, how many boards moved, and the seconds."""
Begin = Callable[[int], tuple[Int8s, Stepper]]
"""Called with a seed; gives the first masks and what steps."""


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
    begins: dict[str, Begin] = {
        name: partial(_ours, size, arguments)
        for name, arguments in MODES.items()
        if arguments.get("threads", 1) <= size
    }
    if peer("torch") is not None:
        begins[TENSOR] = partial(_tensors, size)
    if (pgx := peer("pgx")) is not None:
        begins[PGX] = _pgx(pgx, size)
    return {name: partial(_speed, begin, size, seconds) for name, begin in begins.items()}


def _speed(begin: Begin, size: int, seconds: float, seed: int) -> float:
    """Counted steps of single boards a second."""
    masks, step = begin(seed)
    generator = np.random.default_rng(seed)
    steps, spent, warm = 0, 0.0, WARM_UP
    while spent < seconds:
        masks, moved, elapsed = step(random_columns(masks, generator))
        if warm:
            warm -= 1
        else:
            spent += elapsed
            steps += moved
    return steps / spent


def _ours(size: int, arguments: dict[str, Any], seed: int) -> tuple[Int8s, Stepper]:
    opponent = arguments.get("opponent")
    if isinstance(opponent, dict):
        arguments = {**arguments, "opponent": Pool(opponent)}
    environment = ConnectFourVectorEnv(size, **arguments)
    skips = environment.metadata["autoreset_mode"].value == "NextStep"
    over = 0

    def step(actions: Int64s) -> tuple[Int8s, int, float]:
        nonlocal over
        start = time.perf_counter()
        observation, _, terminated, _, _ = environment.step(actions)
        elapsed = time.perf_counter() - start
        moved, over = size - over, int(np.count_nonzero(terminated)) if skips else 0
        return observation["action_mask"], moved, elapsed

    return environment.reset(seed=seed)[0]["action_mask"], step


def _tensors(size: int, seed: int) -> tuple[Int8s, Stepper]:
    import torch

    from c4env.envs.vectorized.tensor import TensorEnv

    environment = TensorEnv(size)

    def step(actions: Int64s) -> tuple[Int8s, int, float]:
        given = torch.from_numpy(actions)
        start = time.perf_counter()
        observation = environment.step(given)[0]
        elapsed = time.perf_counter() - start
        return observation["action_mask"].numpy(), size, elapsed

    return environment.reset()[0]["action_mask"].numpy(), step


def _pgx(pgx: Any, size: int) -> Begin:
    """pgx's connect four, batched and compiled, with its own automatic reset in the step."""
    import jax
    from pgx.experimental.wrappers import auto_reset

    game = pgx.make("connect_four")
    compiled_init = jax.jit(jax.vmap(game.init))
    compiled_step = jax.jit(jax.vmap(auto_reset(game.step, game.init)))

    def masks_of(state: Any) -> Int8s:
        return np.asarray(state.legal_action_mask).astype(np.int8)

    def begin(seed: int) -> tuple[Int8s, Stepper]:
        keys = jax.random.split(jax.random.key(seed), size)
        state = compiled_init(keys)

        def step(actions: Int64s) -> tuple[Int8s, int, float]:
            nonlocal state
            given = jax.block_until_ready(jax.numpy.asarray(actions, "int32"))
            start = time.perf_counter()
            state = jax.block_until_ready(compiled_step(state, given, keys))
            elapsed = time.perf_counter() - start
            return masks_of(state), size, elapsed

        return masks_of(state), step

    return begin


def random_columns(masks: Int8s, generator: np.random.Generator) -> Int64s:
    """A random legal column ``[N]`` of each board, 0 where there is none; masks ``[N, 7]``."""
    chance = 1 - generator.random(masks.shape, np.float32)  # more than 0
    return np.asarray((chance * masks).argmax(1))
