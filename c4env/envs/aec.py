"""Connect Four as a PettingZoo AEC environment: a drop-in for ``connect_four_v3``.

``env()`` checks the order of calls and ends the game at an illegal move. ``raw_env()`` does
not check the order, and an illegal move is an error. Neither environment has wrappers: the checks
are part of ``step``.

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

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final, SupportsIndex

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils.env import AECIterable, AECIterator
from pettingzoo.utils.env_logger import EnvLogger

from c4env.arrays import Int8s
from c4env.boards import for_board
from c4env.errors import (
    ActionNotInSpace,
    IllegalMove,
    IllegalStep,
    InvalidAction,
    NotReset,
    UnknownAgent,
    WrongOrder,
)

from ..bitboard import COLUMNS, CONNECT, ROWS
from ..observation import ILLEGAL_MASK, OBSERVATION_SHAPE, Form, Observation, fill, observe
from ..position import Position
from ..view.rendering import DEFAULT_SCALING
from ..view.viewer import RENDER_MODES, Viewer
from .drop_in import AGENTS as AGENTS
from .drop_in import DropIn
from .options import parse_seed, parse_start


class raw_env(DropIn, AECEnv):
    """An environment that does not check the order of calls.

    Attributes:
        agents, rewards, terminations, truncations, infos, agent_selection: as in every
            PettingZoo environment.
        state_space: Box of ``state()``.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "render_modes": list(RENDER_MODES),
        "name": "connect_four_v3",
        "is_parallelizable": False,
        "render_fps": 2,
    }

    # From the first reset() on.
    agents: list[str]
    rewards: dict[str, float]
    terminations: dict[str, bool]
    truncations: dict[str, bool]
    infos: dict[str, dict[str, Any]]
    agent_selection: str
    _cumulative_rewards: dict[str, float]

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

        Raises:
            UnknownRenderMode: the render mode is unknown.
            InvalidOption: ``screen_scaling`` is not a positive integer.
            MissingExtra: ``"human"`` needs pygame-ce.
        """
        super().__init__()
        self._viewer = Viewer(render_mode or None, screen_scaling)
        self.render_mode = render_mode
        self.screen_scaling = screen_scaling
        self.possible_agents = list(AGENTS)
        self.action_spaces = {agent: spaces.Discrete(COLUMNS) for agent in AGENTS}
        self.observation_spaces = {agent: Form("planes_last").space for agent in AGENTS}
        self.state_space = spaces.Box(0, 1, OBSERVATION_SHAPE, np.int8)
        self._position = Position()
        self._last: int | None = None
        self._prepare()

    def _prepare(self) -> None:
        """Set the attributes that exist before the first reset."""
        self.agents = list(AGENTS)

    # -- the game ---------------------------------------------------------------------

    @property
    def position(self) -> Position:
        """The board and the side to move, as a ``Position``."""
        return self._position

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Start a game.

        Args:
            seed: checked but not used; nothing here is random.
            options: start from ``{"moves": "4455"}`` (1-based columns) or from
                ``{"position": position}``. Other options cause a warning.

        Raises:
            InvalidOption: both options are given, the start is a finished game, or the seed is
                invalid.
            InvalidNotation, IllegalMove: ``moves`` is not a legal game.
        """
        parse_seed(int(seed) if isinstance(seed, str) and seed.isdecimal() else seed)
        self._position, self._last = parse_start(options, warn=True)
        self.agents = list(AGENTS)
        self.rewards = dict.fromkeys(AGENTS, 0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self.infos = {agent: {} for agent in AGENTS}
        self.agent_selection = AGENTS[self._position.to_move]
        self._skip_agent_selection = None  # PettingZoo's: the agent after the dead steps

    def step(self, action: Any) -> None:
        """Drop a disc for the selected agent; once the game is over, remove the agent instead.

        Args:
            action: 0-based column; None when the agent is terminated or truncated.

        Raises:
            ActionNotInSpace: the action is not an integer 0..6 or, after the end, is not None.
            IllegalStep: the column is full.
            WrongOrder: no agent is left, or it is not the selected agent's turn.

        An error leaves the game as it was.
        """
        agent = self.agent_selection
        if not self.agents:
            raise WrongOrder("step() after the end of the game: reset() first")
        if self.terminations[agent] or self.truncations[agent]:
            self._step_dead(action)
            return
        position = self._position
        if agent != AGENTS[position.to_move]:
            raise WrongOrder(f"agent_selection={agent!r}: it is the other agent's turn")
        try:
            position = position.play(action)
        except InvalidAction as error:
            raise ActionNotInSpace(f"action of {agent}: {error}") from None
        except IllegalMove as error:
            raise IllegalStep(str(error)) from None
        self._position = position
        self._last = int(action)
        other = AGENTS[position.to_move]
        outcome = position.outcome
        if outcome is not None:
            if outcome.winner is not None:
                self.rewards[agent] += 1
                self.rewards[other] -= 1
            self.terminations = dict.fromkeys(self.agents, True)
            self._accumulate_rewards()
        self.agent_selection = other
        if self.render_mode == "human":
            self.render()

    def _step_dead(self, action: object) -> None:
        if action is not None:
            raise ActionNotInSpace(
                f"{action!r} for {self.agent_selection}, whose game is over: "
                "when an agent is dead, the only valid action is None"
            )
        self._was_dead_step(None)

    # -- observations -------------------------------------------------------------------

    def observe(self, agent: str) -> Observation:
        """Return the observation of an agent, in new arrays.

        ``"observation"`` is int8 ``(6, 7, 2)``, row 0 on top, plane 0 the agent's discs;
        ``"action_mask"`` is int8 ``(7,)``, all zeros if it is not the agent's turn and once the
        game is over.

        Raises:
            UnknownAgent: ``agent`` is not in ``possible_agents``.
            NotReset: ``env()`` was never reset; ``state`` and ``render`` raise this error too.
        """
        self._require_reset("observe")
        if agent not in AGENTS:
            raise UnknownAgent(f"{agent!r} is not an agent: expected one of {list(AGENTS)}")
        position = self._position
        own, other = position.mine, position.theirs
        if AGENTS[position.to_move] != agent:
            own, other = other, own
        live = agent == self.agent_selection and not (
            self.terminations.get(agent, True) or self.truncations.get(agent, True)
        )
        planes = np.empty(OBSERVATION_SHAPE, np.int8)
        mask = np.empty(COLUMNS, np.int8)
        fill(own, other, own | other if live else ILLEGAL_MASK, planes, mask)
        return {"observation": planes, "action_mask": mask}

    def state(self) -> Int8s:
        """Return the board as a new array, int8 ``(6, 7, 2)``; plane 0 has player_0's discs."""
        self._require_reset("state")
        return observe(self._position, 0)["observation"]

    def observation_space(self, agent: str) -> spaces.Dict:
        """Return the space of an agent's observations, always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """Return the space of an agent's actions, always the same object."""
        return self.action_spaces[agent]

    def render(self) -> NDArray[np.uint8] | str | None:
        """Render the board: return pixels or text, or show it in a window and return None."""
        self._require_reset("render")
        return self._viewer.render(self._position, self._last, self.metadata["render_fps"])

    def close(self) -> None:
        """Close the window if there is one; the game continues."""
        self._viewer.close()


_OF_A_GAME: Final = {*raw_env.__annotations__, "num_agents"}


class CheckedEnv(raw_env):
    """An environment that checks the order of calls and ends the game at an illegal move.

    An action on a full column ends the game with PettingZoo's warning. The agent gets -1 and the
    other agent 0; both agents are terminated and truncated. ``step()`` warns if no agent is left.
    Before the first ``reset()`` every access to the game raises :class:`NotReset`.

    Parameters, attributes and methods are those of :class:`raw_env`.
    """

    if TYPE_CHECKING:  # PettingZoo's own annotation allows None as observation

        def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
            """Return the observation, cumulative reward, termination, truncation and info."""

    @property
    def unwrapped(self) -> raw_env:
        """A ``raw_env`` of the same game, without the checks of this class."""
        return self._view(raw_env)

    @property
    def env(self) -> raw_env:
        """An object with the same game, where PettingZoo has the wrapped environment."""
        return self._view(_Second)

    def _prepare(self) -> None:
        self._has_reset = False
        self._has_updated = False  # since agent_iter() last returned an agent

    def __getattr__(self, name: str) -> Any:
        if name in _OF_A_GAME:
            raise NotReset(f"{name} cannot be accessed before reset")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _require_reset(self, call: str) -> None:
        if not self._has_reset:
            raise NotReset(f"reset() needs to be called before {call}.")

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Start a game; see :meth:`raw_env.reset`."""
        super().reset(seed, options)
        self._has_reset = True
        self._has_updated = True

    def step(self, action: SupportsIndex | None) -> None:
        """Drop a disc for the selected agent; once the game is over, remove the agent instead.

        Args:
            action: 0-based column; None when the agent is terminated or truncated.

        Raises:
            ActionNotInSpace: the action is not an integer 0..6 or, after the end, is not None;
                the game is unchanged.
            NotReset: ``reset`` was never called.
            WrongOrder: it is not the selected agent's turn.
        """
        self._require_reset("step")
        self._has_updated = True
        if not self.agents:
            EnvLogger.warn_step_after_terminated_truncated()
            return
        agent = self.agent_selection
        try:
            super().step(action)
        except IllegalStep:
            self._forfeit(agent)

    def _forfeit(self, agent: str) -> None:
        """End the game; the agent that made an illegal move loses."""
        EnvLogger.warn_on_illegal_move()
        self._cumulative_rewards[agent] = 0
        self.terminations = dict.fromkeys(self.agents, True)
        self.truncations = dict.fromkeys(self.agents, True)
        self.rewards = dict.fromkeys(self.agents, 0)
        self.rewards[agent] = -1.0
        self._accumulate_rewards()
        self._deads_step_first()

    def agent_iter(self, max_iter: int = 2**63) -> AECIterable:
        """Iterate over the agents in turn until none is left, at most ``max_iter`` times.

        Raises (in the loop):
            WrongOrder: the loop's body called neither ``step`` nor ``reset``.
        """
        self._require_reset("agent_iter()")
        return _CheckedIterable(self, max_iter)


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

    Raises:
        InvalidOption: no board has that size, or ``screen_scaling`` is not a positive integer.
        UnknownRenderMode, MissingExtra: as for :class:`raw_env`.
    """
    made: CheckedEnv = for_board(CheckedEnv, rows, columns, connect)(render_mode, screen_scaling)
    return made


class _Second(CheckedEnv):
    """The class of ``env.env``, where PettingZoo has the second of its three wrappers."""

    @property
    def env(self) -> raw_env:
        return self._view(_Third)


class _Third(CheckedEnv):
    """The class of ``env.env.env``, where PettingZoo has the third of its three wrappers."""

    @property
    def env(self) -> raw_env:
        return self._view(raw_env)


class _CheckedIterable(AECIterable):
    def __iter__(self) -> _CheckedIterator:
        return _CheckedIterator(self.env, self.max_iter)


class _CheckedIterator(AECIterator):
    def __next__(self) -> str:
        agent: str = super().__next__()
        if not self.env._has_updated:
            raise WrongOrder("need to call step() or reset() in a loop over `agent_iter`")
        self.env._has_updated = False
        return agent
