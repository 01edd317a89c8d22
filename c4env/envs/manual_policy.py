"""A person at the window as a policy for PettingZoo's AEC loop.

env = c4env.env(render_mode="human")
env.reset()
person = c4env.ManualPolicy(env, agent_id=0)
for agent in env.agent_iter():
    observation, _, termination, truncation, _ = env.last()
    if termination or truncation:
        action = None
    elif agent == person.agent:
        action = person(observation, agent)
    else:
        action = env.action_space(agent).sample(observation["action_mask"])
    env.step(action)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from c4env.errors import InvalidOption, UnknownAgent

from ..view.rendering import ansi
from .aec import AGENTS, raw_env


class ManualPolicy:
    """A person plays one agent with mouse or keys in the environment's window.

    A faint disc shows where a disc dropped at the pointer would land. A click or a digit 1..7
    drops a disc. The arrow keys choose a column, and Enter or Space drops the disc there. Full
    columns have no effect. Closing the window or pressing Escape raises
    :class:`~c4env.errors.WindowClosed`, a ``SystemExit``, and so ends the program.

    Args:
        env: an environment of this package with ``render_mode="human"``.
        agent_id: 0 or 1, the index of the person's agent.
        show_obs: print the board as text before each move.

    Attributes:
        agent: the name of the agent that the person plays.

    Raises:
        InvalidOption: an argument is invalid, or ``env`` has another render mode.
    """

    def __init__(self, env: Any, agent_id: int = 0, show_obs: bool = False) -> None:
        """Make a policy; the window opens at the first move or ``render()``."""
        board = getattr(env, "unwrapped", env)
        if not isinstance(board, raw_env) or board.render_mode != "human":
            raise InvalidOption(f'env={env!r}: expected c4env.env(render_mode="human")')
        if isinstance(agent_id, bool) or agent_id not in (0, 1):
            raise InvalidOption(f"agent_id={agent_id!r}: expected 0 or 1")
        self.env = env
        self.agent_id = agent_id
        self.agent = AGENTS[agent_id]
        self.show_obs = show_obs
        self._board = board

    def __call__(self, observation: Mapping[str, Any], agent: str) -> int:
        """Wait for the person and return the 0-based column.

        Args:
            observation: not used; the window shows the game.
            agent: the agent to move.

        Raises:
            UnknownAgent: ``agent`` is not the agent of this policy.
            WrongOrder: the game is over.
            WindowClosed: the person closed the window or pressed Escape.
        """
        if agent != self.agent:
            raise UnknownAgent(f"{agent!r}: this manual policy plays only {self.agent!r}")
        position, last = self._board.position, self._board.last_move
        if self.show_obs:
            print(ansi(position, last))
        return self._board._viewer.ask_column(position, last)

    @property
    def available_agents(self) -> dict[str, int]:
        """The ``agent_id`` of each agent."""
        return {agent: i for i, agent in enumerate(AGENTS)}
