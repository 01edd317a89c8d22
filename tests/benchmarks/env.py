"""What a user's loop gets from the environments, beside PettingZoo's and pgx's in one run.

The learner plays random legal moves. The clock runs over all of the loop: the choice of the moves,
``last``, ``step`` and the resets. PettingZoo's loop is the one of its documents; it has no
opponents, so there the loop asks ``greedy`` itself. Only the ratios mean something elsewhere.
"""

import itertools
import statistics
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from c4env import agents
from c4env.envs.aec import env
from c4env.evaluation.tables import Table
from c4env.lazy import from_extra
from tests.benchmarks import jax_loop, vector
from tests.benchmarks.harness import in_turns, rounded_ratio, seconds_each

BOARDS: Final = 4096
MODES: Final = {"next-step": "NextStep", "same-step": "SameStep"}  # of autoreset
OPPONENTS: Final = {"self-play": None, "against greedy": "greedy"}


def run(boards: int = BOARDS, seconds: float = 0.3, rounds: int = 9) -> Table:
    """Time every loop in turn with theirs, ``seconds`` a round; the medians count.

    The times are microseconds per move of the learner, who in self-play moves for both players.
    """
    with from_extra("peers", "PettingZoo's connect_four_v3 needs pygame"):
        from pettingzoo.classic.connect_four.connect_four import env as theirs
    works: dict[tuple[str, bool], Callable[[int], float]] = {}  # by name, and whether it is ours
    for name, opponent in OPPONENTS.items():
        for mode, value in MODES.items():
            row = f"{boards:,} boards, {name}, {mode}"
            arguments = {"opponent": opponent, "autoreset_mode": value}
            works[row, False] = partial(aec_loop, theirs, opponent, seconds)
            works[row, True] = partial(vector.loop, boards, arguments, seconds)
    works["AEC loop", False] = partial(aec_loop, theirs, None, seconds)
    works["AEC loop", True] = partial(aec_loop, env, None, seconds)
    works |= jax_loop.works(boards, seconds)
    found = {key: 1e6 * statistics.median(times) for key, times in in_turns(works, rounds).items()}
    rows = [
        (name, found[name, False], found[name, True], found[name, False] / found[name, True])
        for name, ours in works
        if ours
    ]
    return Table.of(
        {
            "loop": "",
            "theirs us": ".3g",
            "c4env us": ".3g",
            "theirs / c4env": rounded_ratio,
        },
        rows,
    )


def aec_loop(make: Callable[[], Any], opponent: str | None, seconds: float, seed: int) -> float:
    """Seconds per move of the learner in an AEC environment; one game is not measured."""
    environment, reply = make(), agents.make(opponent) if opponent else None
    for agent in environment.possible_agents:
        environment.action_space(agent).seed(seed)
    learners = itertools.cycle(environment.possible_agents)

    def game() -> int:
        return play(environment, reply, next(learners))

    game()
    return seconds_each(game, seconds)


def play(environment: Any, reply: Callable[[Any], int] | None, learner: str) -> int:
    """One game of a learner, or without a reply of two; returns the number of their moves."""
    moves = 0
    environment.reset()
    for agent in environment.agent_iter():
        observation, _, terminated, truncated, _ = environment.last()
        if terminated or truncated:
            action = None
        elif reply and agent != learner:
            action = reply(observation)
        else:
            action = environment.action_space(agent).sample(observation["action_mask"])
            moves += 1
        environment.step(action)
    return moves
