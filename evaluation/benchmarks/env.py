"""Speed of the AEC environments in PettingZoo's own loop, with random legal moves.

PettingZoo's connect four is measured beside ours where its pygame is installed; only the
ratios mean something elsewhere.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from c4env.envs.aec import env, raw_env
from evaluation.benchmarks.harness import in_turns, peer
from evaluation.commands.output import show
from evaluation.tables import Table, number

BASELINE = "pettingzoo env()"


def run(games: int = 200, repeat: int = 5) -> Table:
    """Time every environment over the same random games, so many a repetition.

    Of each the median of the steps a second, a turn of the loop being one, dead ones among them.
    """
    makers: dict[str, Callable[[], Any]] = {"c4env env()": env, "c4env raw_env()": raw_env}
    theirs = peer("pettingzoo.classic.connect_four.connect_four")
    if theirs is not None:
        makers = {BASELINE: theirs.env, "pettingzoo raw_env()": theirs.raw_env, **makers}
    works = {name: partial(_speed, make, games) for name, make in makers.items()}
    speeds = {name: statistics.median(found) for name, found in in_turns(works, repeat).items()}
    base = speeds.get(BASELINE)
    rows = [
        (name, number(speed, ",.0f"), number(speed / base if base else None, ".1f"))
        for name, speed in speeds.items()
    ]
    missing = "PettingZoo's own is not measured: its pygame is missing (c4env[window])"
    heading = ("AEC loop, random legal moves", "steps/s", "ratio")
    return Table([heading, *rows], notes=() if base else (missing,))


def _speed(make: Callable[[], Any], games: int, seed: int) -> float:
    """Steps a second over some games, one unmeasured before."""
    choose, environment = random.Random(seed), make()
    play(environment, choose)
    start = time.perf_counter()
    steps = sum(play(environment, choose) for _ in range(games))
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
            mask = observation["action_mask"].tolist()
            action = choose.choice([column for column, legal in enumerate(mask) if legal])
        environment.step(action)
        steps += 1
    return steps


def execute(arguments: argparse.Namespace) -> int:
    """Run it, and print the table."""
    show(run(), arguments)
    return 0
