"""Plies a second of the vector environment, and how they grow with the number of boards.

Run it with ``python -m evaluation.benchmarks.vector``. The time is that of ``step`` alone,
observations and masks included, with random legal moves chosen outside the clock. pgx is
measured beside ours where it is installed (``pip install pgx``); it spreads over all cores,
so compare on one: ``taskset -c 0 python -m evaluation.benchmarks.vector``.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from c4env.bitboard import COLUMNS
from c4env.envs.opponents import draw, streams
from c4env.envs.vector import ConnectFourVectorEnv
from c4env.jit import kernel
from evaluation.commands.usage import Parser

SIZES = (1, 16, 256, 1024, 4096, 16_384, 65_536)

# What is measured, by name: arguments of the environment.
FORMS: dict[str, dict[str, Any]] = {
    "self-play": {},
    "self-play, copy=False": {"copy": False},
    "self-play, copy=False, 2 threads": {"copy": False, "threads": 2},
    "self-play, same-step autoreset": {"autoreset_mode": "SameStep"},
    "against random": {"opponent": "random"},
    "against greedy": {"opponent": "greedy"},
}

PGX = "pgx, self-play"


class Row(NamedTuple):
    """The speed of one form at one size."""

    name: str
    boards: int
    steps_per_second: float
    """Steps of single boards, the best of the repetitions: a ply in self-play, a ply and
    its answer against an opponent. A finished board's step that only resets it is not
    counted."""


def run(
    sizes: Sequence[int] = SIZES, seconds: float = 0.1, repeat: int = 3
) -> tuple[list[Row], str]:
    """Time every form at every size.

    Args:
        sizes: numbers of boards.
        seconds: measured time a repetition.
        repeat: repetitions; the forms take turns, so that a slow moment of the machine
            hits all of them, and the best counts.

    Returns:
        The rows, and a table of them as text.
    """
    rows = []
    has_pgx = importlib.util.find_spec("pgx") is not None
    for size in sizes:
        best = dict.fromkeys([*FORMS, PGX], 0.0)
        stepper = _PgxStepper(size) if has_pgx else None
        for repetition in range(repeat):
            for name, arguments in FORMS.items():
                if arguments.get("threads", 1) <= size:
                    speed = _speed(size, arguments, seconds, seed=repetition)
                    best[name] = max(best[name], speed)
            if stepper is not None:
                best[PGX] = max(best[PGX], stepper.speed(seconds, seed=repetition))
        rows += [Row(name, size, speed) for name, speed in best.items() if speed]
    return rows, _table(rows, sizes)


def _speed(size: int, arguments: dict[str, Any], seconds: float, seed: int) -> float:
    """Counted steps of single boards a second."""
    environment = ConnectFourVectorEnv(size, **arguments)
    chance = streams(np.arange(size, dtype=np.uint64) + np.uint64(seed))
    actions = np.zeros(size, np.int64)
    observation, _ = environment.reset(seed=seed)
    skips = environment.metadata["autoreset_mode"].value == "NextStep"
    steps, spent, warm = 0, 0.0, 30  # as many steps until the boards are of all ages
    over = 0
    while spent < seconds:
        pick(observation["action_mask"], chance, actions)
        start = time.perf_counter()
        observation, _, terminated, _, _ = environment.step(actions)
        elapsed = time.perf_counter() - start
        if warm:
            warm -= 1
        else:
            spent += elapsed
            steps += size - over
        over = int(np.count_nonzero(terminated)) if skips else 0
    environment.close()
    return steps / spent


class _PgxStepper:
    """pgx's connect four, batched and compiled, with its own automatic reset in the step."""

    def __init__(self, size: int) -> None:
        import jax
        import pgx
        from pgx.experimental.wrappers import auto_reset

        game = pgx.make("connect_four")
        self._size = size
        self._jax = jax
        self._init = jax.jit(jax.vmap(game.init))
        self._step = jax.jit(jax.vmap(auto_reset(game.step, game.init)))

    def speed(self, seconds: float, seed: int) -> float:
        """Steps of single boards a second, counted as in :func:`_speed`."""
        jax, size = self._jax, self._size
        keys = jax.random.split(jax.random.key(seed), size)
        state = self._init(keys)
        chance = streams(np.arange(size, dtype=np.uint64) + np.uint64(seed))
        actions = np.zeros(size, np.int64)
        steps, spent, warm = 0, 0.0, 30
        while spent < seconds:
            pick(np.asarray(state.legal_action_mask).astype(np.int8), chance, actions)
            given = jax.block_until_ready(jax.numpy.asarray(actions, "int32"))
            start = time.perf_counter()
            state = jax.block_until_ready(self._step(state, given, keys))
            elapsed = time.perf_counter() - start
            if warm:
                warm -= 1
            else:
                spent += elapsed
                steps += size
        return steps / spent


@kernel("void(int8[:, ::1], int64[::1], int64[::1])")
def pick(masks: NDArray[np.int8], chance: NDArray[np.int64], actions: NDArray[np.int64]) -> None:
    """Write a random legal column for each board, 0 where there is none."""
    for i in range(len(actions)):
        actions[i] = 0
        legal = 0
        for column in range(COLUMNS):
            legal += int(masks[i, column])
        if not legal:
            continue
        left = draw(chance, i, legal)
        for column in range(COLUMNS):
            if masks[i, column]:
                if left == 0:
                    actions[i] = column
                    break
                left -= 1


def _table(rows: list[Row], sizes: Sequence[int]) -> str:
    lines = [f"{'million steps/s by boards':<34}" + "".join(f"{size:>9,}" for size in sizes)]
    for name in dict.fromkeys(row.name for row in rows):
        speeds = {row.boards: row.steps_per_second for row in rows if row.name == name}
        cells = [f"{speeds[size] / 1e6:>9.3g}" if size in speeds else f"{'':>9}" for size in sizes]
        lines.append(f"{name:<34}" + "".join(cells))
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Run it, and print the table; it has no options."""
    Parser(prog="c4 bench vector", description=__doc__).parse_args(argv)
    print(run()[1])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
