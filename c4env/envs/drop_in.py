"""Internals of PettingZoo's ``connect_four_v3``, for programs that rely on these internals.

Such a program runs with ``import c4env as connect_four_v3``. A ``raw_env()`` supports:

- ``env.board``: the 42 cells row by row from the top, a list of 0 (empty), 1 (player_0) and 2. The
  list follows the game, and the game follows the list: ``env.board[38] = 1`` sets a disc, and
  ``env.board = cells`` all of them. Then ``agent_selection`` is the side to move. A full board, or
  four in a row, ends the game without rewards. ``env.board = cells`` works before the first
  ``reset()``, for programs that copy a game by its attributes;
- ``env._legal_moves()``, ``env.check_for_winner()``, ``env._agent_selector.next()``, and
  ``env._agent_selector = selector``, which changes nothing: the board says whose turn it is;
- ``env.agent_selection = name``, if it is that player's turn;
- ``render_mode=""``, which means None;
- unknown options of ``reset``, which cause a warning.

An ``env()`` has the same around it as in PettingZoo: three layers, each with the next as ``env``,
which can be replaced. ``env.env.env.env`` is the ``raw_env``, and so is ``env.unwrapped``. What a
program reads from the outermost layer, or sets there, is the game's.

A board that no game reaches is an error. ``env.board = cells`` then leaves the game as it was; a
cell is checked when the game is next used, so a program can set several cells one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from pettingzoo.utils import AgentSelector

from c4env.errors import InvalidPosition

from ..bitboard import CELLS, COLUMNS, drop, has_won
from ..position import DISCS, EMPTY, Position, numbered_cells

AGENTS = ("player_0", "player_1")


class DropIn:
    """The methods and attributes of ``raw_env`` for programs that use ``connect_four_v3``."""

    terminations: dict[str, bool]
    reset: Callable[[], None]
    _selected: str
    _position: Position
    _last: int | None
    # The list that ``board`` returned, and a copy to see what a program set in it.
    _cells: list[int] | None
    _known: list[int] | None

    @property
    def position(self) -> Position:
        """The board and the side to move, as a ``Position``."""
        self._adopt_cells()
        return self._position

    @property
    def board(self) -> list[int]:
        """The 42 cells row by row from the top: 0 empty, 1 player_0, 2 player_1.

        The module's docstring says what happens when a program sets the board or a cell.
        """
        if self._cells is None:
            self._cells = numbered_cells(self._position)
            self._known = list(self._cells)
        return self._cells

    @board.setter
    def board(self, cells: Any) -> None:
        position = position_of(cells)
        if "terminations" not in self.__dict__:
            self.reset()
        self._continue_from(position)
        self._cells = self._known = None

    @property
    def agent_selection(self) -> str:
        """The agent whose turn it is, or the agent that is removed next."""
        if self._cells is not None:
            self._adopt_cells()
        return self._selected

    @agent_selection.setter
    def agent_selection(self, agent: str) -> None:
        self._selected = agent

    def _adopt_cells(self) -> None:
        """Continue from the cells if a program has set some."""
        if self._cells is not None and self._cells != self._known:
            self._continue_from(position_of(self._cells))
            self._known = list(self._cells)

    def _continue_from(self, position: Position) -> None:
        """Play on from a board that a program set."""
        self._position, self._last = position, None
        self._selected = AGENTS[position.to_move]
        self.terminations = dict.fromkeys(AGENTS, position.outcome is not None)

    @property
    def _agent_selector(self) -> AgentSelector:
        """A selector whose ``next()`` returns the other agent."""
        selector = AgentSelector(list(AGENTS))
        while selector.next() != self._selected:  # before cells that a program has set
            pass
        return selector

    @_agent_selector.setter
    def _agent_selector(self, selector: object) -> None:
        """Do nothing: the board decides whose turn it is."""

    def _legal_moves(self) -> list[int]:
        """Return the 0-based columns that are not full, even after the end of the game."""
        occupied = self.position.mine | self.position.theirs
        return [column for column in range(COLUMNS) if drop(occupied, column)]

    def check_for_winner(self) -> bool:
        """Return True if the selected agent has four in a row."""
        return bool(has_won(self.position.discs(AGENTS.index(self.agent_selection))))


def position_of(cells: Any) -> Position:
    """Return the position of 42 cells, row by row from the top: 0 empty, 1 player_0, 2 player_1."""
    try:
        array = np.asarray(cells)
        good = array.shape == (CELLS,) and bool(np.isin(array, (0, 1, 2)).all())
    except ValueError:  # from ragged lists
        good = False
    if not good:
        raise InvalidPosition(f"board {cells!r}: expected {CELLS} cells of 0, 1 or 2, from the top")
    drawn = [(EMPTY, *DISCS)[int(cell)] for cell in array]
    rows = ["".join(drawn[start : start + COLUMNS]) for start in range(0, CELLS, COLUMNS)]
    return Position.from_board("\n".join(rows))
