"""Connect Four as a PettingZoo AEC environment: a drop-in for ``connect_four_v3``.

``env()`` is ``raw_env()`` in PettingZoo's three wrappers, which check the order of calls and end
the game at an illegal move. In a ``raw_env()`` an illegal move is an error.

Agents, spaces, observations, rewards, dead steps and warnings are those of PettingZoo's own
environment, and so are the internals that programs use, such as ``env.unwrapped.board``. The page
``docs/guides/from-connect-four-v3.md`` lists the intended differences.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils import (
    AgentSelector,
    AssertOutOfBoundsWrapper,
    OrderEnforcingWrapper,
    TerminateIllegalWrapper,
)
from pettingzoo.utils.env import AECIterable

from c4env.arrays import Int8s
from c4env.bitboard import CELLS, COLUMNS, drop, has_won
from c4env.envs.options import parse_seed, parse_start
from c4env.errors import IllegalMove, InvalidPosition, UnknownAgent, WrongOrder
from c4env.observation import NO_COLUMN, OBSERVATION_SHAPE, Form, Observation, observe, write_planes
from c4env.position import DISCS, EMPTY, Position, numbered_cells
from c4env.render import DEFAULT_SCALING, RENDER_MODES, Viewer

AGENTS = ("player_0", "player_1")


def env(render_mode: str | None = None, screen_scaling: int = DEFAULT_SCALING) -> CheckedEnv:
    """Make an environment in PettingZoo's wrappers.

    Args:
        render_mode, screen_scaling: see :class:`raw_env`.

    Example:
        >>> game = env()
        >>> game.reset(seed=1)
        >>> game.step(3)
        >>> game.agent_selection
        'player_1'
    """
    return CheckedEnv(raw_env(render_mode, screen_scaling))


class raw_env(AECEnv[str, Observation, Any]):
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
        # The list that ``board`` returned, and a copy that shows what a program set in it.
        self._cells: list[int] | None = None
        self._cells_before: list[int] | None = None

    @property
    def position(self) -> Position:
        """The board and the side to move, as a ``Position``."""
        if self._cells is not None:
            self._adopt_cells()
        return self._position

    @property
    def agent_selection(self) -> str:
        """The agent whose turn it is, or the agent that is removed next."""
        if self._cells is not None:
            self._adopt_cells()
        return self._selected

    @agent_selection.setter
    def agent_selection(self, agent: str) -> None:
        self._selected = agent

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
        self._cells = self._cells_before = None
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
            InvalidAction: the action is not an integer 0..6.
            ValueError: the selected agent's game is over, and the action is not None.
            IllegalMove: the column is full.
            WrongOrder: no agent is left, or it is not the selected agent's turn.

        An error leaves the game as it was.
        """
        position, agent = self.position, self._selected
        if not self.agents:
            raise WrongOrder("step() after the end of the game: reset() first")
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if agent != AGENTS[position.plies & 1]:
            raise WrongOrder(f"agent_selection={agent!r}: it is the other agent's turn")
        self._position = position = position.play(action)
        self._last = int(action)
        self._selected = other = AGENTS[position.plies & 1]
        if self._cells is not None:
            self._cells_before = self._cells[:] = numbered_cells(position)
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
        position = self.position
        own, other = position.mine, position.theirs
        if AGENTS[position.plies & 1] != agent:
            own, other = other, own
        live = agent == self._selected and not self.terminations.get(agent, True)
        planes = np.empty(OBSERVATION_SHAPE, np.int8)
        mask = np.empty(COLUMNS, np.int8)
        write_planes(own, other, own | other if live else NO_COLUMN, planes, mask)
        return {"observation": planes, "action_mask": mask}

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

    # -- internals of connect_four_v3, for programs that take the game apart -----------

    @property
    def board(self) -> list[int]:
        """The list of the 42 cells, row by row from the top: 0 empty, 1 player_0, 2 player_1.

        The list follows the game, and the game follows the list: ``board[38] = 1`` sets a disc,
        ``env.unwrapped.board = cells`` sets all. Then the board says whose turn it is; a full
        board, or four in a row, ends the game without rewards.

        A board that no game reaches is an error: at once when set whole, which leaves the game as
        it was, and at the next use of the game when set cell by cell.
        """
        if self._cells is None:
            self._cells = numbered_cells(self._position)
            self._cells_before = list(self._cells)
        return self._cells

    @board.setter
    def board(self, cells: Any) -> None:
        position = position_of(cells)
        if "terminations" not in vars(self):  # a program copies a game by its attributes
            self.reset()
        self._cells = self._cells_before = None
        self._continue_from(position)

    @property
    def _agent_selector(self) -> AgentSelector:
        """A selector whose ``next()`` returns the other agent; to set one changes nothing."""
        selector = AgentSelector(list(AGENTS))
        while selector.next() != self._selected:
            pass
        return selector

    @_agent_selector.setter
    def _agent_selector(self, selector: object) -> None:
        pass

    def _adopt_cells(self) -> None:
        """Continue from the cells if a program has set some."""
        if self._cells is not None and self._cells != self._cells_before:
            self._continue_from(position_of(self._cells))
            self._cells_before = list(self._cells)

    def _continue_from(self, position: Position) -> None:
        """Play on from a board that a program set."""
        self._position, self._last = position, None
        self._selected = AGENTS[position.to_move]
        self.terminations = dict.fromkeys(AGENTS, position.outcome is not None)

    def _legal_moves(self) -> list[int]:
        """Return the 0-based columns that are not full, even after the end of the game."""
        occupied = self.position.mine | self.position.theirs
        return [column for column in range(COLUMNS) if drop(occupied, column)]

    def check_for_winner(self) -> bool:
        """Return True if the selected agent has four in a row."""
        return bool(has_won(self.position.discs(AGENTS.index(self.agent_selection))))


def position_of(cells: Any) -> Position:
    """Return the position of 42 cells, row by row from the top: 0 empty, 1 player_0, 2 player_1."""
    characters = dict(enumerate((EMPTY, *DISCS)))
    try:
        text = "".join([characters[cell] for cell in cells])
    except (KeyError, TypeError):  # no such cell, or no row of cells
        text = ""
    if len(text) != CELLS:
        raise InvalidPosition(f"board {cells!r}: expected {CELLS} cells of 0, 1 or 2, from the top")
    return Position.from_board("\n".join(text[i : i + COLUMNS] for i in range(0, CELLS, COLUMNS)))


class CheckedEnv(OrderEnforcingWrapper[str, Any, Any]):
    """PettingZoo's three wrappers around a game.

    A call that the game accepts skips the two inner wrappers, unless a program replaced one or set
    an attribute on one. An illegal move goes through them: they warn, and end the game.
    """

    def __init__(self, game: raw_env) -> None:
        """Wrap a game; :func:`env` makes both."""
        forfeits = TerminateIllegalWrapper(game, illegal_reward=-1)
        bounds = AssertOutOfBoundsWrapper(forfeits)
        super().__init__(bounds)
        self._unchanged = bounds, dict(vars(bounds)), forfeits, dict(vars(forfeits)), game

    def _game(self) -> raw_env | None:
        """Return the game if calls can skip the inner wrappers, else None."""
        bounds, bounds_vars, forfeits, forfeits_vars, game = self._unchanged
        unchanged = bounds.__dict__ == bounds_vars and forfeits.__dict__ == forfeits_vars
        return game if unchanged and self.env is bounds and self._has_reset else None

    def step(self, action: Any) -> None:
        """Drop a disc; see :meth:`raw_env.step`. A full column ends the game."""
        game = self._game()
        if game is not None and game.agents:
            self._has_updated = True
            try:
                return game.step(action)
            except IllegalMove:
                pass
        super().step(action)

    def observe(self, agent: str) -> Any:
        """Return the observation of an agent; see :meth:`raw_env.observe`."""
        game = self._game()
        return super().observe(agent) if game is None else game.observe(agent)

    def last(self, observe: bool = True) -> Any:
        """Return the observation, cumulative reward, termination, truncation and info."""
        game = self._game()
        return super().last(observe) if game is None else game.last(observe)

    def agent_iter(self, max_iter: int = 2**63) -> Any:
        """Iterate over the agents in turn until none is left, at most ``max_iter`` times."""
        super().agent_iter(max_iter)  # requires a reset
        return _Turns(self, max_iter)

    def __str__(self) -> str:
        return str(self.env)


class _Turns(AECIterable[str, Any, Any]):
    """The agents in turn, in a loop that must step or reset."""

    def __iter__(self) -> Iterator[str]:
        checked = self.env
        for _ in range(self.max_iter):
            game = checked._game() or checked
            if not game.agents:
                return
            if not checked._has_updated:
                raise AssertionError("need to call step() or reset() in a loop over `agent_iter`")
            checked._has_updated = False
            yield game.agent_selection
