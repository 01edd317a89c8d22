"""Speed of the AEC environments in PettingZoo's own loop, with random legal moves.

Run it with ``python -m evaluation.benchmarks.env``. PettingZoo's connect four is measured
beside ours where its pygame is installed; only the ratios mean something elsewhere.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from c4env.envs.aec import env, raw_env
from evaluation.commands.usage import Parser

BASELINE = "pettingzoo env()"


class Row(NamedTuple):
    """One environment's speed."""

    name: str
    steps_per_second: float
    """Median over the repetitions; a step is one turn of the loop, dead ones among them."""
    ratio: float | None
    """Against PettingZoo's ``env()`` in the same run; None without PettingZoo's."""


def run(games: int = 200, repeat: int = 5) -> tuple[list[Row], str]:
    """Time every environment over the same random games.

    Args:
        games: games a repetition.
        repeat: repetitions; the environments take turns, so that a slow moment of the
            machine hits all of them.

    Returns:
        The rows, and a table of them as text.
    """
    makers: dict[str, Callable[[], Any]] = {"c4env env()": env, "c4env raw_env()": raw_env}
    try:
        from pettingzoo.classic.connect_four import connect_four as theirs
    except ImportError:  # its pygame is not installed
        pass
    else:
        makers = {BASELINE: theirs.env, "pettingzoo raw_env()": theirs.raw_env, **makers}
    speeds: dict[str, list[float]] = {name: [] for name in makers}
    for repetition in range(repeat):
        for name, make in makers.items():
            speeds[name].append(_speed(make(), games, seed=repetition))
    medians = {name: sorted(values)[len(values) // 2] for name, values in speeds.items()}
    base = medians.get(BASELINE)
    rows = [Row(name, speed, speed / base if base else None) for name, speed in medians.items()]
    return rows, _table(rows)


def _speed(environment: Any, games: int, seed: int) -> float:
    """Steps a second over some games, one unmeasured before."""
    choose = random.Random(seed)
    play(environment, choose)
    steps = 0
    start = time.perf_counter()
    for _ in range(games):
        steps += play(environment, choose)
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


def _table(rows: list[Row]) -> str:
    lines = [f"{'AEC loop, random legal moves':<30} {'steps/s':>9} {'ratio':>6}"]
    for name, speed, ratio in rows:
        lines.append(f"{name:<30} {speed:>9,.0f} {'' if ratio is None else f'{ratio:.1f}':>6}")
    if BASELINE not in {row.name for row in rows}:
        lines.append("PettingZoo's own is not measured: its pygame is missing (c4env[window])")
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Run it, and print the table; it has no options."""
    Parser(prog="c4 bench env", description=__doc__).parse_args(argv)
    print(run()[1])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
