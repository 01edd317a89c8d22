"""The rules on a board of any size, slow and obvious; and the scores on tiny ones.

A board is a tuple of columns, each a tuple of the players whose discs lie in it from the bottom.
"""

from __future__ import annotations

import functools
import importlib
import itertools
import random
from collections.abc import Iterator
from types import ModuleType
from typing import NamedTuple

import c4env
from c4env.boards import Size

Columns = tuple[tuple[int, ...], ...]
Cell = tuple[int, int]  # column, height

OTHER_BOARDS = tuple(
    map(Size.parse, ("4x4x4", "5x6x4", "4x4x3", "2x7x3", "3x5x4", "7x5x5", "8x7x6", "3x15x3"))
)
WIDEST = Size(6, 9, 4)  # of as many bits as there can be, 63


def part(size: Size, name: str) -> ModuleType:
    """A module as it is loaded for a board."""
    return importlib.import_module(f"{c4env.board(*size).__name__}.{name}")


class Rules(NamedTuple):
    """The game on a board of a size."""

    size: Size

    @property
    def empty(self) -> Columns:
        return ((),) * self.size.columns

    def windows(self) -> Iterator[tuple[Cell, ...]]:
        """Every line of cells that wins."""
        for column, height in itertools.product(range(self.size.columns), range(self.size.rows)):
            for right, up in ((0, 1), (1, 0), (1, 1), (1, -1)):
                line = [(column + k * right, height + k * up) for k in range(self.size.connect)]
                if all(c < self.size.columns and 0 <= h < self.size.rows for c, h in line):
                    yield tuple(line)

    def owner(self, board: Columns, cell: Cell) -> int | None:
        column, height = cell
        return board[column][height] if height < len(board[column]) else None

    def won(self, board: Columns, player: int) -> set[Cell]:
        """The cells of the player's winning lines."""
        return {
            cell
            for line in _windows(self.size)
            if all(self.owner(board, c) == player for c in line)
            for cell in line
        }

    def legal(self, board: Columns) -> tuple[int, ...]:
        return tuple(c for c, discs in enumerate(board) if len(discs) < self.size.rows)

    def play(self, board: Columns, column: int, player: int) -> Columns:
        return (*board[:column], (*board[column], player), *board[column + 1 :])

    def random_game(self, seed: int) -> list[tuple[int, Columns]]:
        """Columns and the board after each, to the end of a game."""
        chance = random.Random(seed)
        board, game = self.empty, []
        while self.legal(board) and not self.won(board, (len(game) - 1) % 2):
            column = chance.choice(self.legal(board))
            board = self.play(board, column, len(game) % 2)
            game.append((column, board))
        return game

    def score(self, board: Columns) -> int:
        """The exact score for the side to move: the winner's discs in hand, plus one."""
        return _score(self, board)


@functools.cache
def _windows(size: Size) -> list[tuple[Cell, ...]]:
    return list(Rules(size).windows())


@functools.cache
def _score(rules: Rules, board: Columns) -> int:
    plies = sum(map(len, board))
    mover = plies % 2
    cells = rules.size.rows * rules.size.columns
    if rules.won(board, 1 - mover):
        winner_has = (cells + mover) // 2 - (plies + mover) // 2  # discs in hand of the other
        return -(winner_has + 1)
    children = (rules.play(board, column, mover) for column in rules.legal(board))
    return max((-_score(rules, child) for child in children), default=0)
