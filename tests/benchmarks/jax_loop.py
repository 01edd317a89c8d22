"""JaxEnv beside pgx: a compiled loop of random legal moves on many boards, with pgx's auto_reset.

The loop keeps what a learner needs of every step.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import c4env
from c4env.lazy import from_extra
from tests.benchmarks.harness import seconds_each

STEPS: Final = 50


def works(boards: int, seconds: float) -> dict[tuple[str, bool], Callable[[int], float]]:
    """What times the loop, by name and whether it is ours: seconds per move, by the seed."""
    with from_extra("peers", "pgx is not installed"):
        import pgx
    envs = {False: pgx.make("connect_four"), True: c4env.JaxEnv()}
    return {
        (f"{boards:,} boards, JAX", ours): partial(timed, compiled(env), boards, env, seconds)
        for ours, env in envs.items()
    }


def compiled(env: Any) -> Any:
    """A function of a state and a key that plays ``STEPS`` moves on each board."""
    import jax
    from pgx.experimental import auto_reset

    step = jax.vmap(auto_reset(env.step, env.init))

    def ply(state: Any, key: Any) -> tuple[Any, Any]:
        choose, draw = jax.random.split(key)
        logits = jax.numpy.where(state.legal_action_mask, 0.0, -1e9)
        column = jax.random.categorical(choose, logits)
        new = step(state, column, jax.random.split(draw, len(column)))
        kept = state.observation, state.legal_action_mask, column, new.rewards, new.terminated
        return new, kept

    def play(state: Any, key: Any) -> Any:
        return jax.lax.scan(ply, state, jax.random.split(key, STEPS))

    return jax.jit(play)


def timed(play: Any, boards: int, env: Any, seconds: float, seed: int) -> float:
    """Seconds per move on one board; the first call, which compiles, is not measured."""
    import jax

    start = jax.vmap(env.init)(jax.random.split(jax.random.key(seed), boards))

    def work() -> int:
        jax.block_until_ready(play(start, jax.random.key(seed)))
        return boards * STEPS

    work()
    return seconds_each(work, seconds)
