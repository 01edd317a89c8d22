"""The agent ``graded``, which plays at a stated Elo between ``random`` and ``perfect``."""

from __future__ import annotations

import functools
from typing import Annotated, Final

import numpy as np
from numpy.typing import ArrayLike

from c4env.agents.graded.levels import ELO, SKILL
from c4env.agents.heuristics.weights import WEIGHTS
from c4env.agents.registry.entries import Range
from c4env.arrays import Float64s, Int64s
from c4env.envs.vectorized.drand48 import STATES, next_random
from c4env.jit import kernel

from ...bitboard import (
    CENTRE_FIRST,
    COLUMN,
    STRIDE,
    drop,
    has_won,
    playable,
    safe_moves,
    winning_cells,
)
from ...envs.vectorized.batch import positions_of
from ...envs.vectorized.chance import streams
from ...position import Position
from ..base import Agent, require_move
from ..heuristics import WIN
from ..heuristics.threats import evaluate
from ..registry.options import validate_args
from ..solver import Solver

GLANCE: Final = 1000.0  # value of a four without looking ahead; a value of 100 is odds of e to 1
FAR: Final = 1e300  # beyond any value
PAIRS: Final = 3.0  # look-ahead of skill 1, in pairs of plies
NOISE: Final = 10.0  # noise of skill 1, as a value
FADING: Final = 1.6  # exponent by which noise falls as skill grows


def settings_of(skill: ArrayLike) -> Float64s:
    """Return the settings ``[..., 3]`` of a skill: pairs of plies, noise, share of exact moves.

    Skill 0 plays at random. Up to skill 1 the search grows and the noise falls. From skill 1 to
    skill 2 the share of exact moves grows from 0 to 1.
    """
    quick = np.clip(skill, 1e-9, 1.0)
    exact = np.clip(np.subtract(skill, 1.0), 0.0, 1.0)
    return np.stack([PAIRS * quick, NOISE / quick**FADING, exact], axis=-1)


def skill_of(elo: ArrayLike) -> Float64s:
    """Return the skill, 0 to 2, that plays at an Elo; ``levels`` has the table."""
    return np.asarray(np.interp(np.asarray(elo, np.float64), ELO, SKILL))


@kernel("float64(int64, int64, int64, float64, float64)")
def look(mine: int, theirs: int, depth: int, alpha: float, beta: float) -> float:
    """Search ``depth`` plies of an unfinished game; return the value for the side to move."""
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
    best = -FAR
    for column in CENTRE_FIRST:
        cell = moves & (COLUMN << (STRIDE * column))
        if cell:
            best = max(best, -look(theirs, mine | cell, depth - 1, -beta, -alpha))
            alpha = max(alpha, best)
            if alpha >= beta:
                break
    return best


@kernel("int64[::1](int64[:, ::1], float64[:, ::1], int64[::1])", nogil=True)
def graded_columns(discs: Int64s, settings: Float64s, states: Int64s) -> Int64s:
    """Return a column for each board; -1 if the game is over or exact play must choose.

    Each value gets Gumbel noise of the scale ``noise``, so that the best column is a draw from
    ``softmax(value / noise)``. ``states`` ``[M]`` are those of the boards' random streams.
    """
    columns = np.full(len(discs), -1)
    for i in range(len(discs)):
        mine, theirs = int(discs[i, 0]), int(discs[i, 1])
        state = next_random(int(states[i]))
        if state < settings[i, 2] * STATES or has_won(theirs):
            continue
        state = next_random(state)
        depth = 2 * int(settings[i, 0] + state / STATES)
        best = -FAR
        for column in CENTRE_FIRST:
            cell = drop(mine | theirs, column)
            if cell == 0:
                continue
            state = next_random(state)
            value = -settings[i, 1] * np.log(-np.log((state + 0.5) / STATES))
            if has_won(mine | cell):
                value += WIN + depth if depth else GLANCE
            else:
                value -= look(theirs, mine | cell, max(depth - 1, 0), -FAR, value - best)
            if value > best:
                best = value
                columns[i] = column
    return columns


class Player:
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
    def __init__(self, elo: Annotated[float, Range(-1114, 426)] = 0.0) -> None:
        self.elo = elo
        self.skill = float(skill_of(elo))
        self.player = Player()
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
        return self.player.columns(discs, self.skill, seeds)
