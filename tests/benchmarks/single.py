"""What a step of one environment consists of: the loop, and its parts measured by themselves."""

import functools
import random
import statistics
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from c4env import ConnectFourEnv, agents
from c4env.evaluation.tables import Table
from tests.benchmarks.harness import in_turns, seconds_each

OPPONENT: Final = "greedy"
CALLS: Final = 100  # between two looks at the clock


def run(seconds: float = 0.3, rounds: int = 5) -> Table:
    """Time the loop with two ways to draw the action, and the parts, in microseconds."""
    works: dict[str, Callable[[int], float]] = {
        "loop, action_space.sample(mask)": functools.partial(loop, _sampled, seconds),
        "loop, random.choices(range(7), mask)": functools.partial(loop, _weighted, seconds),
        "action_space.sample(mask)": functools.partial(choice, _sampled, seconds),
        "random.choices(range(7), mask)": functools.partial(choice, _weighted, seconds),
        f"choose() of {OPPONENT}": functools.partial(reply, seconds),
    }
    found = in_turns(works, rounds)
    rows = [(name, 1e6 * statistics.median(times)) for name, times in found.items()]
    return Table.of({"one step, or a part of it": "", "us": ".1f"}, rows)


def loop(choose: Callable[[Any, Any], int], seconds: float, seed: int) -> float:
    """Seconds for each step against the opponent, with the resets."""
    environment = ConnectFourEnv(OPPONENT)
    mask = environment.reset(seed=seed)[1]["action_mask"]
    environment.action_space.seed(seed)

    def steps() -> int:
        nonlocal mask
        for _ in range(CALLS):
            *_, ended, _, info = environment.step(choose(environment.action_space, mask))
            mask = (environment.reset()[1] if ended else info)["action_mask"]
        return CALLS

    steps()
    return seconds_each(steps, seconds)


def choice(choose: Callable[[Any, Any], int], seconds: float, seed: int) -> float:
    """Seconds for each choice of an action."""
    environment = ConnectFourEnv(OPPONENT)
    mask = environment.reset(seed=seed)[1]["action_mask"]
    return seconds_each(_often(lambda: choose(environment.action_space, mask)), seconds)


def reply(seconds: float, seed: int) -> float:
    """Seconds for each reply of the opponent, in the positions of a game."""
    environment, agent = ConnectFourEnv(OPPONENT, seat=0), agents.make(OPPONENT)
    environment.reset(seed=seed)
    agent.choose(environment.position)
    return seconds_each(_often(lambda: agent.choose(environment.position)), seconds)


def _often(work: Callable[[], object]) -> Callable[[], int]:
    def calls() -> int:
        for _ in range(CALLS):
            work()
        return CALLS

    return calls


def _sampled(space: Any, mask: np.ndarray[Any, Any]) -> int:
    return int(space.sample(mask))


def _weighted(_: Any, mask: np.ndarray[Any, Any]) -> int:
    return random.choices(range(len(mask)), mask.tolist())[0]
