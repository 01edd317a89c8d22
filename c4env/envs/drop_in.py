"""Internals of PettingZoo's ``connect_four_v3``, for programs that take the game apart.

``env.unwrapped.board`` is the list of the 42 cells. It follows the game, and the game follows it:
``board[38] = 1`` sets a disc, ``env.unwrapped.board = cells`` sets all. Then the board says whose
turn it is; a full board, or four in a row, ends the game without rewards. A board that no game
reaches is an error: at once when set whole, which leaves the game as it was, and at the next use of
the game when set cell by cell.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
        if self._cells is not None:
            self._adopt_cells()
        return self._position

    @property
    def board(self) -> list[int]:
        """The 42 cells row by row from the top: 0 empty, 1 player_0, 2 player_1."""
        if self._cells is None:
            self._cells = numbered_cells(self._position)
            self._known = list(self._cells)
        return self._cells

    @board.setter
    def board(self, cells: Any) -> None:
        position = position_of(cells)
        if "terminations" not in vars(self):  # a program copies a game by its attributes
            self.reset()
        self._cells = self._known = None
        self._continue_from(position)

    @property
    def agent_selection(self) -> str:
        """The agent whose turn it is, or the agent that is removed next."""
        if self._cells is not None:
            self._adopt_cells()
        return self._selected

    @agent_selection.setter
    def agent_selection(self, agent: str) -> None:
        self._selected = agent

    @property
    def _agent_selector(self) -> AgentSelector:
        """A selector whose ``next()`` returns the other agent; to set one changes nothing."""
        selector = AgentSelector(list(AGENTS))
        while selector.next() != self._selected:  # before cells that a program has set
            pass
        return selector

    @_agent_selector.setter
    def _agent_selector(self, selector: object) -> None:
        pass

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

    def _legal_moves(self) -> list[int]:
        """Return the 0-based columns that are not full, even after the end of the game."""
        occupied = self.position.mine | self.position.theirs
        return [column for column in range(COLUMNS) if drop(occupied, column)]

    def check_for_winner(self) -> bool:
        """Return True if the selected agent has four in a row."""
        return bool(has_won(self.position.discs(AGENTS.index(self.agent_selection))))


def position_of(cells: Any) -> Position:
    """Return the position of 42 cells, row by row from the top: 0 empty, 1 player_0, 2 player_1."""
    drawn = dict(enumerate((EMPTY, *DISCS)))
    try:
        text = "".join([drawn[cell] for cell in cells])
    except (KeyError, TypeError):  # no such cell, or no row of cells
        text = ""
    if len(text) != CELLS:
        raise InvalidPosition(f"board {cells!r}: expected {CELLS} cells of 0, 1 or 2, from the top")
    return Position.from_board("\n".join(text[i : i + COLUMNS] for i in range(0, CELLS, COLUMNS)))
