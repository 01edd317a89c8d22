"""A curriculum: an opponent whose Elo follows the learner."""

from __future__ import annotations

from typing import Annotated, Final

import numpy as np

from c4env.agents.graded.levels import ELO
from c4env.agents.registry.entries import Range
from c4env.arrays import Float64s, Int64s
from c4env.errors import InvalidOption

from ...position import Position
from ..base import Agent, require_move
from ..registry.options import Share, validate_args
from .agent import Player, skill_of

LOWEST: Final = ELO[0]
HIGHEST: Final = ELO[-1]

Elo = Annotated[float, Range(LOWEST, HIGHEST)]
Change = Annotated[float, Range(1, HIGHEST - LOWEST)]
Count = Annotated[int, Range(1, 10**9)]


class Curriculum(Agent):
    """An opponent, the agent ``graded``, that gets stronger as the learner gets stronger.

    After ``games`` games, the Elo, at first ``elo``, rises by ``step`` if the learner's mean score
    was ``above`` or more, and falls by ``step`` if it was ``below`` or less. A draw scores half.
    The count of games then starts again. Each board uses the new Elo from its next game on, and
    games that began with another Elo do not count. One curriculum may serve several environments;
    another process gets a copy with its own count.

    Attributes:
        elo: the present Elo.
        history: the Elo after every ``games`` games.

    Example:
        >>> curriculum = Curriculum(-800)
        >>> envs = ConnectFourVectorEnv(256, opponent=curriculum)
        >>> curriculum.elo
        -800.0

    Raises:
        InvalidOption: ``below`` is not less than ``above``.
    """

    @validate_args
    def __init__(
        self,
        elo: Elo = -800.0,
        *,
        step: Change = 50.0,
        games: Count = 100,
        above: Share = 0.6,
        below: Share = 0.4,
    ) -> None:
        if not below < above:
            raise InvalidOption(f"below={below!r}: expected less than above={above!r}")
        self.elo = elo
        self.history: tuple[float, ...] = ()
        self._step, self._games, self._above, self._below = step, games, above, below
        self._points, self._count = 0.0, 0
        self._elos: dict[int, float] = {}  # of each board's game
        self._generator = np.random.default_rng(0)
        self.player = Player()

    def count(self, rewards: Float64s) -> None:
        """Count the learner's rewards, 1, 0 or -1, of finished games at the present Elo."""
        self._points += float((rewards + 1).sum() / 2)
        self._count += len(rewards)
        if self._count < self._games:
            return
        score = self._points / self._count
        change = self._step * ((score >= self._above) - (score <= self._below))
        self.elo = min(max(self.elo + change, LOWEST), HIGHEST)
        self.history += (self.elo,)
        self._points, self._count = 0.0, 0

    def reset(self, seed: int | np.random.SeedSequence | None = None) -> None:
        """Begin a new game; the same seed draws the same columns."""
        self._generator = np.random.default_rng(seed)

    def choose(self, position: Position) -> int:
        """Choose a column at the present Elo."""
        require_move(position)
        discs = np.array([[position.mine, position.theirs]])
        return int(self.choose_many(discs, self._generator.integers(2**48, size=1))[0])

    def choose_many(self, discs: Int64s, seeds: Int64s) -> Int64s:
        """Choose a column on each board at the present Elo."""
        return self.player.columns(discs, skill_of(self.elo), seeds)

    def begin_games(self, boards: Int64s, seeds: Int64s) -> None:
        """Begin new games; they keep the present Elo."""
        self._elos.update(dict.fromkeys(boards.tolist(), self.elo))

    def choose_in_games(self, boards: Int64s, discs: Int64s, seeds: Int64s) -> Int64s:
        """Return columns int64 ``[M]``, each at the Elo of its game."""
        # A game that another opponent began goes on at the present Elo.
        elos = [self._elos.setdefault(board, self.elo) for board in boards.tolist()]
        return self.player.columns(discs, skill_of(elos), seeds)

    def end_games(self, boards: Int64s, rewards: Float64s) -> None:
        """Count finished games, except games that began when the opponent had another Elo."""
        present = [self._elos.get(board) == self.elo for board in boards.tolist()]
        if any(present):
            self.count(rewards[present])

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.elo:g}, step={self._step:g}, games={self._games})"
