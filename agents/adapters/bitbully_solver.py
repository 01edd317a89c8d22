"""``bitbully``: the solver of that name, exact or as deep as it is told."""

from __future__ import annotations

import random
from typing import Any, Final

import numpy as np
from c4env.agents.base import Agent, as_number, require_move
from c4env.agents.zoo.entries import require_choice

from c4env.lazy import from_extra
from c4env.position import Position

BOOKS: Final = ("none", "8-ply", "12-ply", "12-ply-dist")
TIES: Final = ("center", "leftmost", "random")


class BitBully(Agent):
    """Plays a best column of BitBully, which is exact without a depth.

    Args:
        depth: plies it searches before it guesses by playing on; 0 for no limit.
        book: its opening book: ``none``, ``12-ply-dist`` (as exact as no book), or
            ``8-ply`` or ``12-ply``, which know who wins and not how soon.
        ties: among best columns ``center`` takes the one nearest the centre, ``leftmost``,
            or ``random`` draws one; seeded by :meth:`reset`.

    Raises:
        InvalidValue: an option has none of its values.
        MissingExtra: the package or its books are not installed.
    """

    settings_are_all = True

    def __init__(self, depth: int = 0, book: str = "12-ply-dist", ties: str = "center") -> None:
        require_choice("bitbully", "book", book, BOOKS)
        require_choice("bitbully", "ties", ties, TIES)
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
        """What it draws by, too."""
        return super().__getstate__() | {"drawn": self._solver.rng.getstate()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Go on where the copied agent was."""
        self._solver.rng.setstate(state.pop("drawn"))
        self.__dict__.update(state)

    def reset(self, seed: int | np.random.SeedSequence | None = None) -> None:
        """Begin a new game with nothing remembered; the same seed draws the same columns."""
        self._solver.reset_transposition_table()
        self._solver.rng.seed(as_number(seed))

    def choose(self, position: Position) -> int:
        """A column of its best score; :attr:`nodes` as it counts them."""
        require_move(position)
        self._solver.reset_node_counter()
        board = self._board([int(digit) - 1 for digit in position.moves()])
        column = int(self._solver.best_move(board))
        self.nodes = self._solver.get_node_counter()
        return column
