"""Wrappers that add rewards from exact play to an environment's rewards.

    ExactReward(gymnasium.make("c4env/ConnectFour-v0", opponent="greedy"), from_ply=20)
    ExactVectorReward(ConnectFourVectorEnv(64, opponent="greedy"), "regret", from_ply=20)

The value V of a position is its result with exact play, 1, 0 or -1 for the side to move.
With ``value="score"``, V is the exact score divided by half the number of cells, so that a quick
win is worth more than a slow win.

- ``"shaping"`` adds ``gamma * P(s') - P(s)`` (Ng, Harada and Russell, "Policy invariance under
  reward transformations", ICML 1999). The potential P(s) is V(s) for the caller if s has
  at least ``from_ply`` discs, else 0. P is also 0 after the end of the game, so the added rewards
  of a game sum to -P(start) with ``gamma`` 1. In self-play, P(s') is for the side that moved.
- ``"regret"`` subtracts the value that the caller's move gives away: the caller's V before the move
  minus the caller's V after the move and before the opponent's reply. A move into a full column
  has V = -1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, SupportsFloat

import gymnasium
import numpy as np
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper

from c4env.agents.errors import InvalidValue
from c4env.arrays import Bools, Float64s, Int64s

from ..bitboard import CELLS
from ..envs.single import ConnectFourEnv
from ..envs.vectorized import kernels
from ..envs.vectorized.vector import ConnectFourVectorEnv
from ..geometry import BOARD_SIZE
from ..position import Position
from .base import require_count
from .pool import is_number
from .solver import Solver

KINDS: Final = ("shaping", "regret")
VALUES: Final = ("result", "score")


class _Exact:
    """Computes the rewards to add on N boards, from the positions before and after a step."""

    def __init__(
        self,
        kind: str = "shaping",
        *,
        from_ply: int = 20,
        gamma: float = 1.0,
        value: str = "result",
        solver: Solver | None = None,
    ) -> None:
        for name, given, known in (("kind", kind, KINDS), ("value", value, VALUES)):
            if given not in known:
                raise InvalidValue(f"{name}={given!r}: expected one of {list(known)}")
        if not is_number(gamma) or not 0 <= gamma <= 1:
            raise InvalidValue(f"gamma={gamma!r}: expected a number from 0 to 1")
        if not isinstance(solver, Solver | None):
            raise InvalidValue(f"solver={solver!r}: expected a Solver of this board, or None")
        self.from_ply = require_count("from_ply", from_ply, 0, CELLS)
        self.shaping, self.gamma, self.signs = kind == "shaping", gamma, value == "result"
        self.solver = solver or Solver()

    def begin(self, positions: Sequence[Position], over: Bools) -> None:
        """Store the positions before a step, and the boards whose game is over."""
        self.over = over
        self.boards = np.array([(p.mine, p.theirs) for p in positions], np.int64)
        self.deep = ~over & (kernels.plies_of(self.boards) >= self.from_ply)
        self.values = self._values(self.boards, self.deep)

    def added(
        self, actions: Any, positions: Sequence[Position], ended: Bools, over: Bools, view: int = 1
    ) -> Float64s:
        """Return the rewards to add; ``view`` is -1 if a step changes the side to move, else 1."""
        before, idle = self.values, self.over
        lost = 0.0 if self.shaping else self._lost(np.array(actions, np.int64))
        self.begin(positions, over)
        change = self.gamma * view * np.where(ended, 0.0, self.values) - before
        return np.where(idle, 0.0, change if self.shaping else -lost)

    def _lost(self, actions: Int64s) -> Float64s:
        after, results = self.boards.copy(), np.where(self.deep, kernels.ONGOING, kernels.DRAWN)
        results = results.astype(np.int8)
        kernels.play(after, results, actions, 0, len(after))
        legal = results < kernels.FORFEIT_BY_0
        return self.values + np.where(legal, self._values(after, self.deep & legal), 1.0)

    def _values(self, boards: Int64s, where: Bools) -> Float64s:
        """Return the values for the side to move on the boards ``where``, 0 on other boards."""
        values = np.zeros(len(boards))
        scores = self.solver.scores_many(boards[where, 0], boards[where, 1])
        values[where] = np.sign(scores) if self.signs else scores / (CELLS // 2)
        return values


class ExactReward(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Adds rewards from exact play to ``ConnectFourEnv``, wrapped or not; see the module.

    Args:
        env: the environment.
        kind: ``"shaping"`` or ``"regret"``.
        options: ``from_ply=20``, ``gamma=1.0``, ``value="result"`` or ``"score"``; ``solver``, an
            ``agents.Solver`` that several wrappers may share.

    Raises:
        InvalidValue: the environment is not a ``ConnectFourEnv``, or an option is invalid.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], kind: str = "shaping", **options: Any) -> None:
        RecordConstructorArgs.__init__(self, kind=kind, **options)
        gymnasium.Wrapper.__init__(self, env)
        if not isinstance(env.unwrapped, ConnectFourEnv):
            raise InvalidValue(f"{env}: expected a ConnectFourEnv on the board {BOARD_SIZE}")
        self._game, self._exact = env.unwrapped, _Exact(kind, **options)

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        """Reset the environment."""
        found = self.env.reset(**kwargs)
        self._exact.begin([self._game.position], np.zeros(1, np.bool_))
        return found

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Step the environment, and add the reward from exact play."""
        seen, reward, ended, truncated, info = self.env.step(action)
        over = np.array([ended])
        (added,) = self._exact.added([action], [self._game.position], over, over)
        return seen, float(reward) + float(added), ended, truncated, info


class ExactVectorReward(VectorWrapper):
    """Adds rewards from exact play to ``ConnectFourVectorEnv``; see :class:`ExactReward`."""

    def __init__(
        self, env: VectorEnv[Any, Any, Any], kind: str = "shaping", **options: Any
    ) -> None:
        games = getattr(env, "unwrapped", None)
        if not isinstance(games, ConnectFourVectorEnv):
            raise InvalidValue(f"{env}: expected a ConnectFourVectorEnv on the board {BOARD_SIZE}")
        super().__init__(env)
        self._games, self._exact = games, _Exact(kind, **options)

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Reset the boards."""
        found = self.env.reset(seed=seed, options=options)
        fresh = (options or {}).get("reset_mask")
        over = np.zeros(self.num_envs, np.bool_) if fresh is None else self._exact.over & ~fresh
        self._exact.begin(self._games.positions(), over)
        return found

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Step the boards, and add the rewards from exact play."""
        seen, rewards, ended, truncated, info = self.env.step(actions)
        over = ended & (self._games.autoreset_mode is not AutoresetMode.SAME_STEP)
        view = -1 if self._games.opponent is None else 1
        added = self._exact.added(actions, self._games.positions(), ended, over, view)
        return seen, rewards + added, ended, truncated, info
