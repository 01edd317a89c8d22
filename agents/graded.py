"""An agent of a stated strength: ``graded``.

An Elo gives a *skill* from 0 to 2 (``levels`` has the table), and a skill gives how far the agent
looks ahead, how much noise its values get, and which share of its moves is exact.
"""

from __future__ import annotations

import functools
from typing import Annotated, Final

import numpy as np

from c4env.agents.base import BatchAgent, require_move
from c4env.agents.graded_elo import ELO_LEVELS, SKILL_LEVELS
from c4env.agents.heuristics import WIN
from c4env.agents.heuristics.evaluations import evaluate
from c4env.agents.heuristics.weights import WEIGHTS
from c4env.agents.making.options import Range, validate_args
from c4env.agents.solver import Solver
from c4env.arrays import Int64s
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
from c4env.jit import kernel

FOUR: Final = 1000.0  # value of a four without looking ahead; a value of 100 is odds of e to 1
INFINITE: Final = 1e300  # beyond any value
LOOKAHEAD: Final = 3.0  # look-ahead of skill 1, in pairs of plies
NOISE: Final = 10.0  # noise of skill 1, as a value
FADING: Final = 1.6  # exponent by which noise falls as skill grows

LOWEST: Final = ELO_LEVELS[0]
HIGHEST: Final = ELO_LEVELS[-1]
Elo = Annotated[float, Range(LOWEST, HIGHEST)]


def skill_of(elo: float) -> float:
    """Return the skill, 0 to 2, that plays at an Elo."""
    return float(np.interp(elo, ELO_LEVELS, SKILL_LEVELS))


def settings_of(skill: float) -> tuple[float, float, float]:
    """Return what a skill means: pairs of plies, noise, share of exact moves.

    Skill 0 plays at random. Up to skill 1 the search grows and the noise falls. From skill 1 to
    skill 2 the share of exact moves grows from 0 to 1.
    """
    search = min(max(skill, 1e-9), 1.0)
    return LOOKAHEAD * search, NOISE / search**FADING, max(skill - 1.0, 0.0)


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


@kernel("int64[::1](int64[:, ::1], float64, float64, float64, int64[::1])", nogil=True)
def graded_columns(
    discs: Int64s, pairs: float, noise: float, exact: float, states: Int64s
) -> Int64s:
    """Return a column for each board; -1 if the game is over or exact play must choose.

    Gumbel noise of the scale ``noise`` is added to each value, so that the best column is a draw
    from ``softmax(value / noise)``. ``states`` ``[M]`` are the states of the boards' random
    streams.
    """
    columns = np.full(len(discs), -1)
    for i in range(len(discs)):
        mine, theirs = int(discs[i, 0]), int(discs[i, 1])
        state = next_random(int(states[i]))
        if state < exact * STATES or has_won(theirs):
            continue
        state = next_random(state)
        depth = 2 * int(pairs + state / STATES)
        best = -INFINITE
        for column in CENTRE_FIRST:
            cell = drop(mine | theirs, column)
            if cell == 0:
                continue
            state = next_random(state)
            value = -noise * np.log(-np.log((state + 0.5) / STATES))
            if has_won(mine | cell):
                value += WIN + depth if depth else FOUR
            else:
                value -= value_of(theirs, mine | cell, max(depth - 1, 0), -INFINITE, value - best)
            if value > best:
                best = value
                columns[i] = column
    return columns


class Graded(BatchAgent):
    """Plays at a stated Elo of the leaderboard, and errs where errors are easy to make.

    The agent looks 0 to 6 plies ahead and values the columns by the heuristic ``threats``. The
    agent plays the column with the best sum of value and random noise. A stronger agent looks
    further and has less noise. So the agent errs between columns of similar value, and overlooks
    distant threats. Above Elo 89 a growing share of its moves is exact.

    Args:
        elo: strength on the scale of the leaderboard; -1109 is random, 431 perfect.
    """

    @validate_args
    def __init__(self, elo: Elo = 0.0) -> None:
        super().__init__()
        self.elo = elo
        self.skill = skill_of(elo)

    @functools.cached_property
    def _solver(self) -> Solver:
        return Solver()

    def choose_many(self, discs: Int64s, seeds: Int64s) -> Int64s:
        """Choose a column on each board, in one kernel; a solver finds exact moves."""
        states = streams(seeds.astype(np.uint64))
        columns = graded_columns(discs, *settings_of(self.skill), states)
        exact = np.flatnonzero(columns < 0)
        for i, position in zip(exact, positions_of(discs[exact]), strict=True):
            require_move(position)
            columns[i] = self._solver.best_columns(position)[0]
        return columns
