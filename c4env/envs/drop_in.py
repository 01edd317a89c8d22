"""Internals of PettingZoo's ``connect_four_v3``, for programs that rely on these internals.

Such a program runs with ``import c4env as connect_four_v3``. An ``env`` that ``env()`` or
``raw_env()`` made supports:

- ``env.board``: the 42 cells row by row from the top, a list of 0 (empty), 1 (player_0) and 2. The
  list is a copy, but setting a cell of the list also sets the cell in the game;
- ``env.board = cells``: the game continues from this board, and ``agent_selection`` is the side to
  move. A full board, or four in a row, ends the game without rewards. A ``raw_env()`` accepts a
  board even before the first ``reset()``, for programs that copy a game by its attributes;
- ``env.unwrapped``, and with ``env()`` also ``env.env``, ``env.env.env`` and ``env.env.env.env``:
  objects with the same game. The first and the last are a ``raw_env``, which checks less;
- ``env._legal_moves()``, ``env.check_for_winner()``, ``env._agent_selector.next()``, and
  ``env._agent_selector = selector``, which changes nothing: the board says whose turn it is;
- ``env.agent_selection = name``, if it is that player's turn;
- ``render_mode=""``, which means None, and ``reset("7")``, which means the seed 7;
- unknown options of ``reset``, which cause a warning.

A board that no game reaches is an error and leaves the game as it was. When a program sets cells
one by one, the board must be valid after each cell; otherwise set all 42 at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NoReturn, SupportsIndex, TypeVar

import numpy as np
from pettingzoo.utils import AgentSelector

from c4env.errors import InvalidPosition

from ..bitboard import CELLS, COLUMNS, drop, has_won
from ..position import DISCS, EMPTY, Position, numbered_cells

AGENTS = ("player_0", "player_1")

Env = TypeVar("Env", bound="DropIn")


class Board(list[int]):
    """A copy of the cells of a game; setting a cell of the copy also sets it in the game."""

    def __init__(self, game: DropIn, cells: Iterable[int]) -> None:
        super().__init__(cells)
        self._game = game

    def __setitem__(self, index: Any, value: Any) -> None:
        """Set cells in the current game.

        Raises:
            InvalidPosition: no game reaches the board.
        """
        cells = list(self._game.board)
        cells[index] = value
        self._game.board = cells
        super().__setitem__(slice(None), cells)

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise InvalidPosition(f"a board has {CELLS} cells: set env.board or env.board[i]")

    append = extend = insert = pop = remove = clear = sort = reverse = _refuse
    __delitem__ = __iadd__ = __imul__ = _refuse

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        """Copy the cells as a plain list."""
        return list, (list(self),)


class DropIn:
    """The methods and attributes of ``raw_env`` for programs that use ``connect_four_v3``."""

    agent_selection: str
    terminations: dict[str, bool]
    _position: Position
    _last: int | None
    reset: Callable[[], None]

    @property
    def board(self) -> Board:
        """The 42 cells row by row from the top: 0 empty, 1 player_0, 2 player_1.

        The module's docstring says what happens when a program sets the board or a cell.
        """
        return Board(self, numbered_cells(self._position))

    @board.setter
    def board(self, cells: Any) -> None:
        self._require_reset("a board is set")
        position = position_of(cells)
        if "terminations" not in self.__dict__:
            self.reset()
        self._position = position
        self._last = None
        self.agent_selection = AGENTS[self._position.to_move]
        self.terminations = dict.fromkeys(AGENTS, self._position.outcome is not None)

    def _require_reset(self, call: str) -> None:
        """Do nothing: a ``raw_env`` has a board from the start. ``CheckedEnv`` overrides it."""

    def _legal_moves(self) -> list[int]:
        """Return the 0-based columns that are not full, even after the end of the game."""
        occupied = self._position.mine | self._position.theirs
        return [column for column in range(COLUMNS) if drop(occupied, column)]

    def check_for_winner(self) -> bool:
        """Return True if the selected agent has four in a row."""
        return bool(has_won(self._position.discs(AGENTS.index(self.agent_selection))))

    @property
    def _agent_selector(self) -> AgentSelector:
        """A selector at the selected agent, so that ``next()`` returns the other agent."""
        selector = AgentSelector(list(AGENTS))
        while selector.next() != self.agent_selection:
            pass
        return selector

    @_agent_selector.setter
    def _agent_selector(self, selector: object) -> None:
        """Do nothing: the board decides whose turn it is."""

    def _view(self, kind: type[Env]) -> Env:
        """Return the same game as an object of another class that shares all attributes."""
        views = self.__dict__.setdefault("_views", {})
        if kind not in views:
            views[kind] = kind.__new__(kind)
            views[kind].__dict__ = self.__dict__
        view: Env = views[kind]
        return view

    def __getstate__(self) -> dict[str, Any]:
        """Return all attributes except the objects that ``_view`` made; a copy makes its own."""
        return {key: value for key, value in self.__dict__.items() if key != "_views"}


def position_of(cells: Any) -> Position:
    """Return the position of 42 cells, row by row from the top: 0 empty, 1 player_0, 2 player_1.

    Raises:
        InvalidPosition: ``cells`` are not 42 numbers 0, 1 or 2, or no game reaches the board.
    """
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
