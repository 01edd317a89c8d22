"""Speed of every environment, with random legal moves, beside PettingZoo's connect four.

The AEC environments are measured in PettingZoo's own loop; one board against an opponent, and
many boards, as in ``vector``, by the caller's steps. PettingZoo's own needs pygame;
only the ratios mean something elsewhere.
"""

import random
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from c4env.envs.aec import env, raw_env
from c4env.envs.single import ConnectFourEnv
from c4env.evaluation.tables import Table
from tests.benchmarks import vector
from tests.benchmarks.harness import in_turns, peer

BASELINE = "pettingzoo env()"
BOARDS = 4096


def run(games: int = 200, repeat: int = 5, boards: int = BOARDS) -> Table:
    """Time every environment over the same random games, so many a repetition.

    Of each the median of the steps a second; in the AEC loop a step is one turn, dead ones among
    them. The ratio is to PettingZoo's ``env()`` in the same run.
    """
    makers: dict[str, Callable[[], Any]] = {"c4env env()": env, "c4env raw_env()": raw_env}
    theirs = peer("pettingzoo.classic.connect_four.connect_four")
    if theirs is not None:
        makers = {BASELINE: theirs.env, "pettingzoo raw_env()": theirs.raw_env, **makers}
    works: dict[str, Callable[[int], float]] = {
        name: partial(_speed, play, make, games) for name, make in makers.items()
    }
    for opponent in ("random", "greedy"):
        single = partial(ConnectFourEnv, opponent)
        works[f"one board against {opponent}"] = partial(_speed, play_single, single, games)
    for name, work in vector.works(boards, games / 2000).items():
        works[f"{boards:,} boards, {name}"] = work
    speeds = {name: statistics.median(found) for name, found in in_turns(works, repeat).items()}
    base = speeds.get(BASELINE)
    rows = [(name, speed, speed / base if base else None) for name, speed in speeds.items()]
    missing = "PettingZoo's own is not measured: pip install pygame-ce"
    return Table.of(
        {"random legal moves": "", "steps/s": ",.0f", "ratio": ".1f"},
        rows,
        notes=() if base else (missing,),
    )


def _speed(
    game: Callable[[Any, random.Random], int], make: Callable[[], Any], games: int, seed: int
) -> float:
    """Steps a second over some games, one unmeasured before."""
    choose, environment = random.Random(seed), make()
    game(environment, choose)
    start = time.perf_counter()
    steps = sum(game(environment, choose) for _ in range(games))
    return steps / (time.perf_counter() - start)


def play(environment: Any, choose: random.Random) -> int:
    """One game of random legal moves in the AEC loop; returns the number of steps."""
    steps = 0
    environment.reset()
    for _ in environment.agent_iter():
        observation, _, terminated, truncated, _ = environment.last()
        if terminated or truncated:
            action = None
        else:
            action = legal_column(observation["action_mask"], choose)
        environment.step(action)
        steps += 1
    return steps


def play_single(environment: Any, choose: random.Random) -> int:
    """One game of random legal moves against the opponent; returns the number of steps."""
    _, info = environment.reset()
    steps, over = 0, False
    while not over:
        _, _, over, _, info = environment.step(legal_column(info["action_mask"], choose))
        steps += 1
    return steps


def legal_column(mask: Any, choose: random.Random) -> int:
    """A random one."""
    return choose.choice([column for column, legal in enumerate(mask.tolist()) if legal])
