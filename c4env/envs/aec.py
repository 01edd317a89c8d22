"""Connect Four as a PettingZoo AEC environment: a drop-in for ``connect_four_v3``.

``env()`` checks the order of calls and ends the game at an illegal move. ``raw_env()`` does
not check the order, and an illegal move is an error.

The same as in PettingZoo's own environment: agents, spaces, observations, rewards, terminations,
truncations, dead steps, warnings, ``metadata``, and the internals that programs use
(``c4env.envs.drop_in``). Different on purpose:

- the action mask is all zeros once the game is over;
- the current board decides which moves are legal; a mask returned earlier does not;
- an action that is not an integer 0..6 is an error and leaves the game as it was;
- setting a board that no game reaches is an error;
- ``position``, ``state()`` and ``state_space`` exist; deepcopy and pickle keep the game;
- ``reset`` takes ``options={"moves": "4455"}`` or ``{"position": position}``.

Importing the package registers ``c4env/connect_four-v0`` with PettingZoo.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils import (
    AssertOutOfBoundsWrapper,
    BaseWrapper,
    OrderEnforcingWrapper,
    TerminateIllegalWrapper,
)
from pettingzoo.utils.env import AECIterable
from pettingzoo.utils.env_logger import EnvLogger

from c4env.arrays import Int8s
from c4env.boards import for_board
from c4env.errors import (
    IllegalMove,
    InvalidAction,
    UnknownAgent,
    WrongOrder,
)

from ..bitboard import COLUMNS, CONNECT, ROWS
from ..observation import ILLEGAL_MASK, OBSERVATION_SHAPE, Form, Observation, fill, observe
from ..position import Position, numbered_cells
from ..view.rendering import DEFAULT_SCALING
from ..view.viewer import RENDER_MODES, Viewer
from .drop_in import AGENTS as AGENTS
from .drop_in import DropIn
from .options import parse_seed, parse_start


class raw_env(DropIn, AECEnv[str, Observation, Any]):
    """An environment that does not check the order of calls.

    ``state_space`` is the Box of ``state()``. The other attributes are those of every PettingZoo
    environment.

    Example:
        >>> game = raw_env(render_mode="ansi")
        >>> game.reset(seed=1)
        >>> game.step(3)
        >>> print(game.render().splitlines()[-1])
        player 1 (o) to move
    """

    metadata: ClassVar[dict[str, Any]] = {
        "render_modes": list(RENDER_MODES),
        "name": "connect_four_v3",
        "is_parallelizable": False,
        "render_fps": 2,
    }

    def __init__(
        self,
        render_mode: str | None = None,
        screen_scaling: int = DEFAULT_SCALING,
    ) -> None:
        """Make an environment; ``reset()`` starts its first game.

        Args:
            render_mode: None or ``""``, ``"human"`` (a window; needs ``c4env[window]``),
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
        self._last = None
        self._cells = self._known = None

    # -- the game ---------------------------------------------------------------------

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Start a game.

        Args:
            seed: checked but not used; nothing here is random.
            options: start from ``{"moves": "4455"}`` (1-based columns) or from
                ``{"position": position}``. Other options cause a warning.

        Raises:
            InvalidOption: both options are given, the start is a finished game, or the seed is
                invalid.
        """
        parse_seed(seed)
        self._position, self._last = parse_start(options, warn=True)
        self._cells = self._known = None
        self.agents = list(AGENTS)
        self.rewards = dict.fromkeys(AGENTS, 0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self.infos = {agent: dict[str, Any]() for agent in AGENTS}
        self._selected = AGENTS[self._position.to_move]
        self._skip_agent_selection = None  # PettingZoo's: the agent after the dead steps

    def step(self, action: Any) -> None:
        """Drop a disc for the selected agent; once the game is over, remove the agent instead.

        Args:
            action: 0-based column; None when the agent is terminated or truncated.

        Raises:
            InvalidAction: the action is not an integer 0..6 or, after the end, is not None.
            IllegalMove: the column is full.
            WrongOrder: no agent is left, or it is not the selected agent's turn.

        An error leaves the game as it was.
        """
        if self._cells is not None:
            self._adopt_cells()
        agent = self._selected
        if not self.agents:
            raise WrongOrder("step() after the end of the game: reset() first")
        if self.terminations[agent] or self.truncations[agent]:
            if action is not None:
                raise InvalidAction(
                    f"{action!r} for {agent}, whose game is over: "
                    "when an agent is dead, the only valid action is None"
                )
            self._was_dead_step(None)
            return
        position = self._position
        if agent != AGENTS[position.to_move]:
            raise WrongOrder(f"agent_selection={agent!r}: it is the other agent's turn")
        try:
            position = position.play(action)
        except InvalidAction as error:
            raise InvalidAction(f"action of {agent}: {error}") from None
        self._position = position
        self._last = int(action)
        if self._cells is not None:
            self._known = numbered_cells(position)
            self._cells[:] = self._known
        other = AGENTS[position.to_move]
        outcome = position.outcome
        if outcome is not None:
            if outcome.winner is not None:
                self.rewards[agent] += 1
                self.rewards[other] -= 1
            self.terminations = dict.fromkeys(self.agents, True)
            self._accumulate_rewards()
        self._selected = other
        if self.render_mode == "human":
            self.render()

    # -- observations -------------------------------------------------------------------

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
        if self._cells is not None:
            self._adopt_cells()
        position = self._position
        own, other = position.mine, position.theirs
        if AGENTS[position.to_move] != agent:
            own, other = other, own
        live = agent == self._selected and not (
            self.terminations.get(agent, True) or self.truncations.get(agent, True)
        )
        planes = np.empty(OBSERVATION_SHAPE, np.int8)
        mask = np.empty(COLUMNS, np.int8)
        fill(own, other, own | other if live else ILLEGAL_MASK, planes, mask)
        return {"observation": planes, "action_mask": mask}

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Return the observation, cumulative reward, termination, truncation and info."""
        if self._cells is not None:
            self._adopt_cells()
        agent = self._selected
        return (
            self.observe(agent) if observe else None,
            self._cumulative_rewards[agent],
            self.terminations[agent],
            self.truncations[agent],
            self.infos[agent],
        )

    def state(self) -> Int8s:
        """Return the board as a new array, int8 ``(6, 7, 2)``; plane 0 has player_0's discs."""
        return observe(self.position, 0)["observation"]

    def observation_space(self, agent: str) -> spaces.Dict:
        """Return the space of an agent's observations, always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """Return the space of an agent's actions, always the same object."""
        return self.action_spaces[agent]

    def render(self) -> NDArray[np.uint8] | str | None:
        """Render the board: return pixels or text, or show it in a window and return None."""
        return self._viewer.render(self.position, self._last, self.metadata["render_fps"])

    def close(self) -> None:
        """Close the window if there is one; the game continues."""
        self._viewer.close()


def _of_the_game(name: str) -> Any:
    """Return an attribute that is read and set in the game; see :meth:`_Layer._begun`."""

    def read(layer: _Layer) -> Any:
        return getattr(layer._begun(name).unwrapped, name)

    def write(layer: _Layer, value: Any) -> None:
        setattr(layer.unwrapped, name, value)

    return property(read, write)


class _Layer(BaseWrapper[str, Any, Any]):
    """Passes calls and attributes on to the next layer."""

    step = BaseWrapper.step
    observe = BaseWrapper.observe

    agents = _of_the_game("agents")
    agent_selection = _of_the_game("agent_selection")
    rewards = _of_the_game("rewards")
    terminations = _of_the_game("terminations")
    truncations = _of_the_game("truncations")
    infos = _of_the_game("infos")
    _cumulative_rewards = _of_the_game("_cumulative_rewards")
    _agent_selector = _of_the_game("_agent_selector")

    @property
    def board(self) -> Any:
        """The 42 cells; see :class:`c4env.envs.drop_in.DropIn`."""
        return self.unwrapped.board

    @board.setter
    def board(self, cells: Any) -> None:
        self.unwrapped.board = cells

    def __getattr__(self, name: str) -> Any:
        if name in ("env", "_game", "_has_reset", "_has_updated") or name.startswith("__"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        if hasattr(type(self), name):  # a property raised WrongOrder
            self._begun(name)
        return getattr(self.unwrapped if name.startswith("_") else self._below(), name)

    def _below(self) -> Any:
        """Return what calls go to: the next layer, or the game itself (:class:`CheckedEnv`)."""
        return self.env

    def _begun(self, call: str) -> Any:
        """Return what calls go to; :class:`CheckedEnv` requires a reset before ``call``."""
        return self.env

    @property
    def unwrapped(self) -> Any:
        """The game, without the checks of the layers."""
        return self._below().unwrapped

    def observation_space(self, agent: str) -> spaces.Dict:
        """Return the space of an agent's observations, always the same object."""
        space: spaces.Dict = self._below().observation_space(agent)
        return space

    def action_space(self, agent: str) -> spaces.Discrete:
        """Return the space of an agent's actions, always the same object."""
        space: spaces.Discrete = self._below().action_space(agent)
        return space

    def close(self) -> None:
        """Close the window if there is one; the game continues."""
        self._below().close()

    def last(self, observe: bool = True) -> Any:
        """Return the observation, cumulative reward, termination, truncation and info."""
        return self._begun("last").last(observe)

    def __str__(self) -> str:
        return str(self._below())


class _Forfeits(_Layer, TerminateIllegalWrapper[str, Any, Any]):
    """The innermost layer; an action on a full column ends the game."""

    def step(self, action: Any) -> None:
        try:
            self.env.step(action)
        except IllegalMove:
            _forfeit(self.unwrapped, float(self._illegal_value))


def _forfeit(game: Any, reward: float) -> None:
    """End a game at an illegal move of the selected agent, which gets this reward."""
    EnvLogger.warn_on_illegal_move()
    agent = game.agent_selection
    game._cumulative_rewards[agent] = 0
    game.terminations = dict.fromkeys(game.agents, True)
    game.truncations = dict.fromkeys(game.agents, True)
    game.rewards = dict.fromkeys(game.agents, 0)
    game.rewards[agent] = reward
    game._accumulate_rewards()
    game._deads_step_first()


class _InBounds(_Layer, AssertOutOfBoundsWrapper[str, Any, Any]):
    """The layer in the middle; ``raw_env`` checks that an action is a column."""


class CheckedEnv(_Layer, OrderEnforcingWrapper[str, Any, Any]):
    """An environment that checks the order of calls and ends the game at an illegal move.

    An action on a full column ends the game with PettingZoo's warning. The agent gets -1 and the
    other agent 0; both agents are terminated and truncated. ``step()`` warns if no agent is left.
    Before the first ``reset()`` every access to the game raises :class:`WrongOrder`.

    Parameters, attributes and methods are those of :class:`raw_env`. Calls skip the layers between
    until a program reads or sets ``env``, since only then it can have replaced a layer.
    """

    # The game while calls skip the layers, then None.
    _game: raw_env | None

    def __init__(
        self, render_mode: str | None = None, screen_scaling: int = DEFAULT_SCALING
    ) -> None:
        """Make an environment; see :class:`raw_env`."""
        game = raw_env(render_mode, screen_scaling)
        super().__init__(_InBounds(_Forfeits(game, illegal_reward=-1)))
        self._game = game

    @property
    def env(self) -> Any:
        """The next layer."""
        self._game = None
        return vars(self)["env"]

    @env.setter
    def env(self, layer: Any) -> None:
        self._game = None
        self.__dict__["env"] = layer

    def _below(self) -> Any:
        return vars(self)["env"] if self._game is None else self._game

    def _begun(self, call: str) -> Any:
        if not self._has_reset:
            raise WrongOrder(f"reset() needs to be called before {call}.")
        return vars(self)["env"] if self._game is None else self._game

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Start a game; see :meth:`raw_env.reset`."""
        self._below().reset(seed=seed, options=options)
        self._has_reset = self._has_updated = True

    def step(self, action: Any) -> None:
        """Drop a disc; see :meth:`raw_env.step`. A full column ends the game.

        Raises:
            WrongOrder: ``reset`` was never called.
        """
        game = self._game  # here and in last(), as a call more would slow each move
        if game is None or not self._has_reset:
            game = self._begun("step")
        self._has_updated = True
        if not game.agents:
            EnvLogger.warn_step_after_terminated_truncated()
            return
        try:
            game.step(action)
        except IllegalMove:
            if self._game is None:  # the layer that ends the game was replaced
                raise
            _forfeit(game, -1.0)

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Return the observation, cumulative reward, termination, truncation and info."""
        game = self._game
        if game is None or not self._has_reset:
            game = self._begun("last")
        return game.last(observe)

    def observe(self, agent: str) -> Observation:
        """Return the observation of an agent; see :meth:`raw_env.observe`."""
        observation: Observation = self._begun("observe").observe(agent)
        return observation

    def state(self) -> Int8s:
        """Return the board; see :meth:`raw_env.state`."""
        state: Int8s = self._begun("state").state()
        return state

    def render(self) -> Any:
        """Render the board; see :meth:`raw_env.render`."""
        return self._begun("render").render()

    def agent_iter(self, max_iter: int = 2**63) -> AECIterable[str, Any, Any]:
        """Iterate over the agents in turn until none is left, at most ``max_iter`` times.

        Raises (in the loop):
            AssertionError: the loop's body called neither ``step`` nor ``reset``.
        """
        self._begun("agent_iter()")
        return _Turns(self, max_iter)


class _Turns(AECIterable[str, Any, Any]):
    """The agents in turn, in a loop that must step or reset; faster than PettingZoo's own."""

    def __iter__(self) -> Iterator[str]:
        checked, left = self.env, self.max_iter
        while left > 0:
            left -= 1
            game = checked.unwrapped if checked._game is None else checked._game
            if not game.agents:
                break
            if not checked._has_updated:
                raise AssertionError("need to call step() or reset() in a loop over `agent_iter`")
            checked._has_updated = False
            yield game.agent_selection


def env(
    render_mode: str | None = None,
    screen_scaling: int = DEFAULT_SCALING,
    *,
    rows: int = ROWS,
    columns: int = COLUMNS,
    connect: int = CONNECT,
) -> CheckedEnv:
    """Make a :class:`CheckedEnv` for a board of any size.

    Args:
        render_mode, screen_scaling: see :class:`raw_env`.
        rows, columns, connect: the size of the board, and the discs in a row that win; see
            ``c4env.board``. Each size has its own environment class.

    Example:
        >>> game = env()
        >>> game.reset(seed=1)
        >>> game.step(3)
        >>> game.agent_selection
        'player_1'
    """
    made: CheckedEnv = for_board(CheckedEnv, rows, columns, connect)(render_mode, screen_scaling)
    return made
