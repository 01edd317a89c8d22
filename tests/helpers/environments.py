"""One way to look at, to play on and to take from every kind of environment."""

from collections.abc import Callable
from typing import Any

import numpy as np

from c4env import ConnectFourEnv, ConnectFourVectorEnv, Position

ATTRIBUTES = (
    *("agents", "possible_agents", "num_agents", "max_num_agents", "rewards", "terminations"),
    *("truncations", "infos", "agent_selection", "board"),
)


def step(environment: Any, column: Any, *others: Any) -> Any:
    """One step: of many boards with this column on each, or with a column each."""
    if isinstance(environment, ConnectFourVectorEnv):
        size = len(positions_of(environment))
        return environment.step(np.array([column, *others] if others else [column] * size))
    return environment.step(column)


def begun(make: Callable[[], Any], moves: str = "") -> Any:
    """A new environment, after these moves of its first game."""
    environment = make()
    environment.reset(seed=1)
    for digit in moves:
        step(environment, int(digit) - 1)
    return environment


def positions_of(environment: Any) -> list[Position]:
    if isinstance(environment, ConnectFourVectorEnv):
        return environment.positions()
    return [environment.position]


def seen(environment: Any) -> dict[str, Any]:
    """Everything a user can look at in an AEC environment, masks apart."""
    view: dict[str, Any] = {name: repr(getattr(environment, name)) for name in ATTRIBUTES}
    unwrapped = environment.unwrapped
    view["cumulative"] = repr(unwrapped._cumulative_rewards)  # PettingZoo's last() reads it
    for agent in environment.possible_agents:
        view[agent] = environment.observe(agent)["observation"].tobytes()
    return view


def state_of(environment: Any) -> Any:
    """The games, and the chance to come where there is one."""
    if isinstance(environment, ConnectFourVectorEnv):  # nothing public shows its chance
        return [array.tolist() for array in (*environment._state, environment._streams)]
    if isinstance(environment, ConnectFourEnv):
        chance = environment._starts, environment._replies
        return environment.position, environment.seat, environment.action_masks().tolist(), chance
    return seen(environment), environment.state().tolist()


def handed_out(environment: Any) -> list[Any]:
    """What an environment hands out beside what ``reset`` and ``step`` return."""
    if isinstance(environment, ConnectFourVectorEnv):
        return []
    if isinstance(environment, ConnectFourEnv):
        return [environment.action_masks()]
    observations = [environment.observe(agent) for agent in environment.possible_agents]
    return [*observations, environment.last()[0], environment.state(), environment.board.copy()]
