"""JaxEnv beside pgx: a compiled loop of given legal moves on many boards, with pgx's auto_reset.

A loop keeps the observation of every step, or reads none. It draws a key for each board and step,
which decides who begins the next game, or starts all games alike, without keys.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import c4env
from c4env.lazy import from_extra
from tests.benchmarks.harness import seconds_each

STEPS: Final = 50
LOOPS: Final = {
    "JAX, observations kept": {"keeps": True, "draws": True},
    "JAX, no observations": {"keeps": False, "draws": True},
    "JAX, no observations, no keys": {"keeps": False, "draws": False},
}


def works(boards: int, seconds: float) -> dict[tuple[str, bool], Callable[[int], float]]:
    """What times each loop, by name and whether it is ours: seconds a move, by the seed."""
    with from_extra("peers", "pgx is not installed"):
        import pgx
    envs = {False: pgx.make("connect_four"), True: c4env.JaxEnv()}
    columns = legal_columns(envs[True], boards)
    return {
        (f"{boards:,} boards, {name}", ours): partial(
            timed, compiled(env, **how), columns, env, seconds
        )
        for name, how in LOOPS.items()
        for ours, env in envs.items()
    }


def legal_columns(env: Any, boards: int) -> Any:
    """Random legal columns ``[STEPS, boards]`` of games from the empty board, and of the next."""
    import jax
    from pgx.experimental import auto_reset

    def ply(state: Any, key: Any) -> tuple[Any, Any]:
        drawn = jax.random.uniform(key, (boards, env.num_actions)) * state.legal_action_mask
        column = drawn.argmax(-1)
        return jax.vmap(auto_reset(env.step, env.init), (0, 0, None))(state, column, key), column

    keys = jax.random.split(jax.random.key(1), STEPS)
    start = jax.vmap(env.init)(jax.random.split(keys[0], boards))
    return jax.lax.scan(ply, start, keys)[1]


def compiled(env: Any, keeps: bool, draws: bool) -> Any:
    """A function of a state, columns and a key that plays all columns."""
    import jax
    from pgx.experimental import auto_reset

    start = env.init(jax.random.key(0))
    begin = env.init if draws else lambda _: start
    step = jax.vmap(auto_reset(env.step, begin), (0, 0, 0 if draws else None))

    def ply(state: Any, given: Any) -> tuple[Any, Any]:
        column, key = given
        state = step(state, column, jax.random.split(key, len(column)) if draws else key)
        return state, (state.rewards, state.observation if keeps else None)

    def play(state: Any, columns: Any, key: Any) -> Any:
        return jax.lax.scan(ply, state, (columns, jax.random.split(key, len(columns))))

    return jax.jit(play)


def timed(play: Any, columns: Any, env: Any, seconds: float, seed: int) -> float:
    """Seconds a move on one board; the first call, which compiles, is not measured."""
    import jax

    start = jax.vmap(env.init)(jax.random.split(jax.random.key(seed), columns.shape[1]))

    def work() -> int:
        jax.block_until_ready(play(start, columns, jax.random.key(seed)))
        return int(columns.size)

    work()
    return seconds_each(work, seconds)
