"""Connect Four as a PettingZoo AEC environment: a drop-in for ``connect_four_v3``.

Rules: two players, ``player_0`` and ``player_1``, take turns, and ``player_0`` begins. A turn drops
one disc into a column of a board of 6 rows and 7 columns. The disc falls to the lowest empty cell
of the column. The first player with four discs in a row wins, and the row may be horizontal,
vertical or diagonal. A full board without four in a row is a draw.

Action: an integer from 0 to 6, the column, counted from the left. A column with 6 discs is full and
must not be played.

Observation: a dict. ``"observation"`` is an int8 array of shape ``(6, 7, 2)``: row 0 is the top
row, plane 0 has a 1 for each disc of the observing player, and plane 1 has a 1 for each disc of the
opponent. ``"action_mask"`` is an int8 array of shape ``(7,)`` with a 1 for each legal column. The
mask is all zeros if it is the other player's turn, and once the game is over.

Rewards: +1 for the winner and -1 for the loser. A draw and every other move give 0. An illegal move
ends the game with -1 for its player and 0 for the opponent.

``env()`` checks the order of calls, and an illegal move ends the game, as in PettingZoo's three
wrappers. In a ``raw_env()`` an illegal move is an error.

Agents, spaces, dead steps and warnings are the same as in PettingZoo's own environment. The page
``docs/environments/aec.md`` lists the intended differences.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils.env import AECIterable
from pettingzoo.utils.env_logger import EnvLogger

from c4env.arrays import Int8s
from c4env.envs.starts import check_options, last_move, parse_seed, starts_in
from c4env.errors import IllegalMove, UnknownAgent, WrongOrder
from c4env.observation import OBSERVATION_SHAPE, Form, Observation, observe, write_planes
from c4env.position import Position, numbered_cells
from c4env.render import DEFAULT_SCALING, RENDER_MODES, Viewer
from c4env.rules import COLUMNS, NO_COLUMN, drop, has_won

AGENTS = ("player_0", "player_1")


def env(render_mode: str | None = None, screen_scaling: int = DEFAULT_SCALING) -> CheckedEnv:
    """Return an environment that checks how it is used.

    Args:
        render_mode, screen_scaling: see :class:`raw_env`.

    Example:
        >>> game = env()
        >>> game.reset(seed=1)
        >>> game.step(3)
        >>> game.agent_selection
        'player_1'
    """
    return CheckedEnv(render_mode, screen_scaling)


class raw_env(AECEnv[str, Observation, Any]):
    """An environment that does not check the order of calls.

    ``state_space`` is the Box of ``state()``. Every PettingZoo environment has the other
    attributes.

    Example:
        >>> game = raw_env(render_mode="ansi")
        >>> game.reset(seed=1)
        >>> game.step(3)
        >>> print(game.render().splitlines()[-1])
        player 1 (o) to move
    """

    metadata: ClassVar[dict[str, Any]] = {
        "render_modes": list(RENDER_MODES),
        "name": "c4env_connect_four_v0",  # as registered, and safe in the name of a file
        "is_parallelizable": False,
        "render_fps": 2,
    }

    def __init__(
        self, render_mode: str | None = None, screen_scaling: int = DEFAULT_SCALING
    ) -> None:
        """Make an environment; ``reset()`` starts its first game.

        Args:
            render_mode: None or ``""``, ``"human"`` (a window; needs ``pygame-ce``),
                ``"rgb_array"`` or ``"ansi"``.
            screen_scaling: size of a picture, ``(86 * screen_scaling, 99 * screen_scaling)``.
        """
        super().__init__()
        self._viewer = Viewer(render_mode or None, screen_scaling)
        self.render_mode = render_mode
        self.screen_scaling = screen_scaling
        self.possible_agents = list(AGENTS)
        self.agents = list(AGENTS)
        self.action_spaces = {agent: spaces.Discrete(COLUMNS) for agent in AGENTS}
        self.observation_spaces = {agent: Form("planes_last").space for agent in AGENTS}
        self.state_space = spaces.Box(0, 1, OBSERVATION_SHAPE, np.int8)
        self._position = Position()
        self._last: int | None = None

    def __copy__(self) -> Self:
        """Return a copy with its own game; PettingZoo changes lists and dicts in place."""
        double = type(self).__new__(type(self))
        for name, value in vars(self).items():
            double.__dict__[name] = value.copy() if isinstance(value, dict | list) else value
        return double

    @property
    def env(self) -> NoReturn:
        """Refused: the environment is one object, without PettingZoo's layers."""
        raise AttributeError(
            "this environment has no layers: write env.unwrapped, such as env.unwrapped.board"
        )

    @property
    def position(self) -> Position:
        """The board and the side to move, as a ``Position``."""
        return self._position

    @property
    def board(self) -> list[int]:
        """A new list of the 42 cells, row by row from the top: 0 empty, 1 player_0, 2 player_1."""
        return numbered_cells(self._position)

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Start a game.

        Args:
            seed: checked but not used; nothing here is random.
            options: the start, as ``"moves"`` (1-based columns such as ``"4455"``) or as
                ``"position"``. Other options cause a warning.

        Raises:
            InvalidOption: both options are given, the start is a finished game, or the seed is
                invalid.
        """
        parse_seed(seed)
        options = check_options(options, ("moves", "position"), warn=True)
        (self._position,) = starts_in(options) or [Position()]
        self._last = last_move(options)
        self.agents = list(AGENTS)
        self.rewards: dict[str, float] = dict.fromkeys(AGENTS, 0)
        self._cumulative_rewards: dict[str, float] = dict.fromkeys(AGENTS, 0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self.infos = {agent: dict[str, Any]() for agent in AGENTS}
        self.agent_selection = AGENTS[self._position.to_move]
        self._skip_agent_selection = None  # PettingZoo's: the agent after the dead steps

    def step(self, action: Any) -> None:
        """Drop a disc for the selected agent; once the game is over, remove the agent instead.

        Args:
            action: 0-based column; None when the agent is terminated or truncated.

        Raises:
            InvalidAction: the action is not an integer 0..6.
            ValueError: the selected agent's game is over, and the action is not None.
            IllegalMove: the column is full.
            WrongOrder: no agent is left, or it is not the selected agent's turn.

        An error leaves the game as it was.
        """
        position, agent = self._position, self.agent_selection
        if not self.agents:
            raise WrongOrder("step() after the end of the game: reset() first")
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if agent != AGENTS[position.plies & 1]:
            raise WrongOrder(f"agent_selection={agent!r}: it is the other agent's turn")
        self._position = position = position.play(action)
        self._last = int(action)
        self.agent_selection = other = AGENTS[position.plies & 1]
        outcome = position.outcome
        if outcome is not None:
            if outcome.winner is not None:
                self.rewards[agent] += 1
                self.rewards[other] -= 1
            self.terminations = dict.fromkeys(self.agents, True)
            self._accumulate_rewards()
        if self.render_mode == "human":
            self.render()

    def observe(self, agent: str) -> Observation:
        """Return the observation of an agent, in new arrays.

        ``"observation"`` is int8 ``(6, 7, 2)``, row 0 on top, plane 0 the agent's discs;
        ``"action_mask"`` is int8 ``(7,)``, all zeros if it is not the agent's turn and once the
        game is over.

        Raises:
            UnknownAgent: ``agent`` is not in ``possible_agents``.
        """
        if agent not in AGENTS:
            raise UnknownAgent(f"{agent!r} is not an agent: expected one of {list(AGENTS)}")
        position = self._position
        own, other = position.mine, position.theirs
        if AGENTS[position.plies & 1] != agent:
            own, other = other, own
        live = agent == self.agent_selection and not self.terminations.get(agent, True)
        return write_planes(own, other, own | other if live else NO_COLUMN)

    def state(self) -> Int8s:
        """Return the board as a new array, int8 ``(6, 7, 2)``; plane 0 has player_0's discs."""
        return observe(self._position, 0)["observation"]

    def observation_space(self, agent: str) -> spaces.Dict:
        """Return the space of an agent's observations, always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """Return the space of an agent's actions, always the same object."""
        return self.action_spaces[agent]

    def render(self) -> NDArray[np.uint8] | str | None:
        """Render the board: return pixels or text, or show it in a window and return None."""
        return self._viewer.render(self._position, self._last, self.metadata["render_fps"])

    def close(self) -> None:
        """Close the window if there is one; the game continues."""
        self._viewer.close()

    def _legal_moves(self) -> list[int]:
        """Return the 0-based columns that are not full, even after the end of the game."""
        occupied = self._position.mine | self._position.theirs
        return [column for column in range(COLUMNS) if drop(occupied, column)]

    def check_for_winner(self) -> bool:
        """Return True if the selected agent has four in a row."""
        return has_won(self._position.discs(AGENTS.index(self.agent_selection)))


class CheckedEnv(raw_env):
    """An environment that checks the order of calls, and in which an illegal move loses the game.

    Before the first ``reset()`` the list of agents is empty, and calls are errors. A loop over
    ``agent_iter()`` must step or reset.
    """

    _has_reset = False
    _has_moved = False  # since the loop's latest turn

    def __init__(
        self, render_mode: str | None = None, screen_scaling: int = DEFAULT_SCALING
    ) -> None:
        """Make an environment; see :class:`raw_env`."""
        super().__init__(render_mode, screen_scaling)
        del self.agents  # until the first reset

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Start a game; see :meth:`raw_env.reset`."""
        super().reset(seed, options)
        self._has_reset = self._has_moved = True

    def step(self, action: Any) -> None:
        """Drop a disc; see :meth:`raw_env.step`. A full column loses the game, with a warning.

        When no agent is left, only a warning follows.
        """
        if not self._has_reset:
            raise _before_reset("step")
        self._has_moved = True
        if not self.agents:
            EnvLogger.warn_step_after_terminated_truncated()
            return
        try:
            super().step(action)
        except IllegalMove:
            EnvLogger.warn_on_illegal_move()
            self._lose()

    def _lose(self) -> None:
        """End the game with -1 for the selected agent."""
        agent = self.agent_selection
        self.terminations = dict.fromkeys(self.agents, True)
        self.truncations = dict.fromkeys(self.agents, True)
        self.rewards = {other: -1.0 if other == agent else 0 for other in self.agents}
        self._cumulative_rewards[agent] = 0
        self._accumulate_rewards()
        self._deads_step_first()

    def agent_iter(self, max_iter: int = 2**63) -> AECIterable[str, Observation, Any]:
        """Iterate over the agents in turn until none is left, at most ``max_iter`` times."""
        if not self._has_reset:
            raise _before_reset("agent_iter()")
        return _Turns(self, max_iter)

    def _turns(self, max_iter: int) -> Iterator[str]:
        for _ in range(max_iter):
            if not self.agents:
                return
            if not self._has_moved:
                raise WrongOrder("need to call step() or reset() in a loop over `agent_iter`")
            self._has_moved = False
            yield self.agent_selection

    def last(self, observe: bool = True) -> Any:
        """Return the observation, cumulative reward, termination, truncation and info."""
        if not self._has_reset:
            raise _before_reset("last")
        return super().last(observe)

    def observe(self, agent: str) -> Observation:
        """Return the observation of an agent; see :meth:`raw_env.observe`."""
        if not self._has_reset:
            raise _before_reset("observe")
        return super().observe(agent)

    def state(self) -> Int8s:
        """Return the board as a new array; see :meth:`raw_env.state`."""
        if not self._has_reset:
            raise _before_reset("state")
        return super().state()

    def render(self) -> NDArray[np.uint8] | str | None:
        """Render the board; see :meth:`raw_env.render`."""
        if not self._has_reset:
            raise _before_reset("render")
        return super().render()


def _before_reset(call: str) -> WrongOrder:
    return WrongOrder(f"reset() needs to be called before {call}.")


class _Turns(AECIterable[str, Observation, Any]):
    """The iterable that ``agent_iter`` returns; each loop over it starts from the beginning."""

    def __iter__(self) -> Iterator[str]:
        turns: Iterator[str] = self.env._turns(self.max_iter)
        return turns
