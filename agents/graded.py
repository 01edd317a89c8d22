"""Agents of a stated strength: ``graded``, and a curriculum, whose Elo follows the learner.

An Elo gives a *skill* from 0 to 2 (``levels`` has the table), and a skill gives how far the agent
looks ahead, how much noise its values get, and which share of its moves is exact.
"""

from __future__ import annotations

import functools
from typing import Annotated, Final

import numpy as np
from numpy.typing import ArrayLike

from c4env.agents.base import Agent, require_move
from c4env.agents.entries import Range
from c4env.agents.heuristics import WIN
from c4env.agents.heuristics.evaluations import evaluate
from c4env.agents.heuristics.weights import WEIGHTS
from c4env.agents.levels import ELO_LEVELS, SKILL_LEVELS
from c4env.agents.options import Share, validate_args
from c4env.agents.solver import Solver
from c4env.arrays import Float64s, Int64s
from c4env.bitboard import (
    CENTRE_FIRST,
    COLUMN,
    STRIDE,
    drop,
    has_won,
    playable,
    safe_moves,
    winning_cells,
)
from c4env.envs.batch import positions_of
from c4env.envs.drand48 import next_random
from c4env.envs.streams import STATES, streams
from c4env.errors import InvalidOption
from c4env.jit import kernel
from c4env.position import Position

FOUR: Final = 1000.0  # value of a four without looking ahead; a value of 100 is odds of e to 1
INFINITE: Final = 1e300  # beyond any value
LOOKAHEAD: Final = 3.0  # look-ahead of skill 1, in pairs of plies
NOISE: Final = 10.0  # noise of skill 1, as a value
FADING: Final = 1.6  # exponent by which noise falls as skill grows

LOWEST: Final = ELO_LEVELS[0]
HIGHEST: Final = ELO_LEVELS[-1]
Elo = Annotated[float, Range(LOWEST, HIGHEST)]
Change = Annotated[float, Range(1, HIGHEST - LOWEST)]
Count = Annotated[int, Range(1, 10**9)]


def skill_of(elo: ArrayLike) -> Float64s:
    """Return the skill, 0 to 2, that plays at an Elo."""
    return np.asarray(np.interp(np.asarray(elo, np.float64), ELO_LEVELS, SKILL_LEVELS))


def settings_of(skill: ArrayLike) -> Float64s:
    """Return the settings ``[..., 3]`` of a skill: pairs of plies, noise, share of exact moves.

    Skill 0 plays at random. Up to skill 1 the search grows and the noise falls. From skill 1 to
    skill 2 the share of exact moves grows from 0 to 1.
    """
    search = np.clip(skill, 1e-9, 1.0)
    exact = np.clip(np.subtract(skill, 1.0), 0.0, 1.0)
    return np.stack([LOOKAHEAD * search, NOISE / search**FADING, exact], axis=-1)


@kernel("float64(int64, int64, int64, float64, float64)")
def value_of(mine: int, theirs: int, depth: int, alpha: float, beta: float) -> float:
    """Return the value for the side to move of an unfinished game, searched ``depth`` plies."""
    moves = playable(mine | theirs)
    if moves == 0:
        return 0.0
    if depth == 0:
        return float(evaluate(mine, theirs, WEIGHTS))
    if winning_cells(mine) & moves:
        return float(WIN + depth)
    if depth > 1:
        moves = safe_moves(moves, winning_cells(theirs))
        if moves == 0:
            return float(1 - WIN - depth)
    best = -INFINITE
    for column in CENTRE_FIRST:
        cell = moves & (COLUMN << (STRIDE * column))
        if cell:
            best = max(best, -value_of(theirs, mine | cell, depth - 1, -beta, -alpha))
            alpha = max(alpha, best)
            if alpha >= beta:
                break
    return best


@kernel("int64[::1](int64[:, ::1], float64[:, ::1], int64[::1])", nogil=True)
def graded_columns(discs: Int64s, settings: Float64s, states: Int64s) -> Int64s:
    """Return a column for each board; -1 if the game is over or exact play must choose.

    Gumbel noise of the scale ``noise`` is added to each value, so that the best column is a draw
    from ``softmax(value / noise)``. ``states`` ``[M]`` are those of the boards' random streams.
    """
    columns = np.full(len(discs), -1)
    for i in range(len(discs)):
        mine, theirs = int(discs[i, 0]), int(discs[i, 1])
        state = next_random(int(states[i]))
        if state < settings[i, 2] * STATES or has_won(theirs):
            continue
        state = next_random(state)
        depth = 2 * int(settings[i, 0] + state / STATES)
        best = -INFINITE
        for column in CENTRE_FIRST:
            cell = drop(mine | theirs, column)
            if cell == 0:
                continue
            state = next_random(state)
            value = -settings[i, 1] * np.log(-np.log((state + 0.5) / STATES))
            if has_won(mine | cell):
                value += WIN + depth if depth else FOUR
            else:
                value -= value_of(theirs, mine | cell, max(depth - 1, 0), -INFINITE, value - best)
            if value > best:
                best = value
                columns[i] = column
    return columns


class GradedPlayer:
    """Chooses columns on many boards; each board may have another skill."""

    @functools.cached_property
    def _solver(self) -> Solver:
        return Solver()

    def columns(self, discs: Int64s, skill: ArrayLike, seeds: Int64s) -> Int64s:
        """Return columns int64 ``[M]``; equal boards, skills and seeds give equal columns."""
        settings = np.array(np.broadcast_to(settings_of(skill), (len(discs), 3)), order="C")
        columns = graded_columns(discs, settings, streams(seeds.astype(np.uint64)))
        exact = np.flatnonzero(columns < 0)
        for i, position in zip(exact, positions_of(discs[exact]), strict=True):
            require_move(position)
            columns[i] = self._solver.best_columns(position)[0]
        return columns


class Graded(Agent):
    """Plays at a stated Elo of the leaderboard, and errs where errors are easy to make.

    The agent looks 0 to 6 plies ahead and values the columns by the heuristic ``threats``. It plays
    the column with the best sum of value and random noise. A stronger agent looks further and has
    less noise. So the agent errs between columns of similar value, and overlooks distant threats.
    Above Elo 84 a growing share of its moves is exact.

    Args:
        elo: strength on the scale of the leaderboard; -1114 is random, 426 perfect.
    """

    @validate_args
    def __init__(self, elo: Elo = 0.0) -> None:
        self.elo = elo
        self.skill = float(skill_of(elo))
        self._player = GradedPlayer()
        self.reset()

    def reset(self, seed: int | np.random.SeedSequence | None = None) -> None:
        """Begin a new game; the same seed draws the same columns."""
        if not isinstance(seed, np.random.SeedSequence):
            seed = np.random.SeedSequence(seed)
        self.reseed(int(seed.generate_state(1, np.uint64)[0]))

    def reseed(self, seed: int) -> None:
        """Set the seed for the noise of the next column."""
        self._state = seed % STATES

    def choose(self, position: Position) -> int:
        """Return the 0-based column to play."""
        require_move(position)
        discs = np.array([[position.mine, position.theirs]])
        (column,) = self.choose_many(discs, np.array([self._state]))
        self._state = next_random(self._state)
        return int(column)

    def choose_many(self, discs: Int64s, seeds: Int64s) -> Int64s:
        """Choose a column on each board, in one kernel; a solver finds exact moves."""
        return self._player.columns(discs, self.skill, seeds)


class Curriculum(Agent):
    """An opponent that becomes stronger as the learner does; it plays as the agent ``graded``.

    After ``games`` games, the Elo, at first ``elo``, rises by ``step`` if the learner's mean score
    was ``above`` or more, and falls by ``step`` if it was ``below`` or less. A draw scores half.
    The count of games then starts again. Each board uses the new Elo from its next game on, and
    games that began with another Elo do not count. One curriculum may serve several environments;
    a copy in another process counts by itself.

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
        self._player = GradedPlayer()

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
        return self._player.columns(discs, skill_of(self.elo), seeds)

    def begin_games(self, boards: Int64s, seeds: Int64s) -> None:
        """Begin new games; they keep the present Elo."""
        self._elos.update(dict.fromkeys(boards.tolist(), self.elo))

    def choose_in_games(self, boards: Int64s, discs: Int64s, seeds: Int64s) -> Int64s:
        """Return columns int64 ``[M]``, each at the Elo of its game."""
        # A game that another opponent began goes on at the present Elo.
        elos = [self._elos.setdefault(board, self.elo) for board in boards.tolist()]
        return self._player.columns(discs, skill_of(elos), seeds)

    def end_games(self, boards: Int64s, rewards: Float64s) -> None:
        """Count finished games, except games that began when the opponent had another Elo."""
        present = [self._elos.get(board) == self.elo for board in boards.tolist()]
        if any(present):
            self.count(rewards[present])

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.elo:g}, step={self._step:g}, games={self._games})"
