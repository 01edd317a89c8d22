"""``bitbully``: an agent that plays by the BitBully solver."""

from __future__ import annotations

import random
from typing import Annotated, Any, Literal

import numpy as np

from c4env.agents.base import Agent, as_number, require_move
from c4env.agents.registry.entries import Between
from c4env.agents.registry.options import CELLS, checked
from c4env.lazy import from_extra
from c4env.position import Position


class BitBully(Agent):
    """Plays a best column by BitBully's scores, which are exact with ``depth`` 0.

    Args:
        depth: plies to search; 0: to the end of the game. With a limit, BitBully estimates each
            leaf by a playout.
        book: opening book: none, 8-ply, 12-ply or 12-ply-dist. Only 12-ply-dist knows how soon a
            side wins; 8-ply and 12-ply know only who wins.
        ties: choice among best columns: center, leftmost or random. :meth:`reset` sets the seed.

    Raises:
        InvalidValue: an option's value is not allowed.
        MissingExtra: the package or its books are not installed.
    """

    settings_are_all = True

    @checked
    def __init__(
        self,
        depth: Annotated[int, Between(0, CELLS)] = 0,
        book: Literal["none", "8-ply", "12-ply", "12-ply-dist"] = "12-ply-dist",
        ties: Literal["center", "leftmost", "random"] = "center",
    ) -> None:
        with from_extra("bitbully", "bitbully: not installed"):
            import bitbully

            self._board: Any = bitbully.Board
            self._solver: Any = bitbully.BitBully(
                None if book == "none" else book,
                tie_break=ties,
                rng=random.Random(),
                max_depth=depth or -1,
            )
        self.deterministic = ties != "random"

    def __getstate__(self) -> Any:
        """Return the state to pickle: the options and the random generator."""
        return super().__getstate__() | {"drawn": self._solver.rng.getstate()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the state that :meth:`__getstate__` returned."""
        self._solver.rng.setstate(state.pop("drawn"))
        self.__dict__.update(state)

    def reset(self, seed: int | np.random.SeedSequence | None = None) -> None:
        """Begin a new game and clear the transposition table; a seed makes choices repeatable."""
        self._solver.reset_transposition_table()
        self._solver.rng.seed(as_number(seed))

    def choose(self, position: Position) -> int:
        """Choose a column with the best score; set :attr:`nodes` to the nodes searched."""
        require_move(position)
        self._solver.reset_node_counter()
        board = self._board([int(digit) - 1 for digit in position.moves()])
        column = int(self._solver.best_move(board))
        self.nodes = self._solver.get_node_counter()
        return column
