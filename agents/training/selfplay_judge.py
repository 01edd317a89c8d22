"""How strong a network of self-play is: what its training reports, and never learns from.

Two figures: the score against agents over every opening of two plies, and the share of critical
moves that give away a win or a draw, on positions made here. None of them is in the exam
(``agents.solver.exam``), which is left for judging what was trained.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from agents.sampling.gumbel import Evaluate
from agents.sampling.tree import OPEN, tactical_status
from agents.solver import NO_SCORE, Solver
from agents.solver.exam import exam_positions
from c4env.arrays import Int8s, Int64s
from c4env.bitboard import COLUMN, COLUMNS, STRIDE
from c4env.observation import Observation, observe
from c4env.position import Position

PLIES: Final = range(14, 31)  # of the critical positions: those before take long to solve
COUNT: Final = 2_000


class Critical(NamedTuple):
    """Positions in which some columns keep the value of the game, and others do not."""

    boards: Int64s  # [N, 2], the side to move first
    keeps: Int8s  # [N, 7], 1 for a column that keeps it


def safe_position(plies: int, generator: np.random.Generator) -> Position:
    """A position after so many random discs, none of which loses to the next.

    It has fewer discs where the next two decide the game.
    """
    position = Position()
    while position.plies < plies:
        score, cells = tactical_status(position.mine, position.theirs, position.plies)
        if score != OPEN:
            break
        safe = [c for c in range(COLUMNS) if cells & (COLUMN << (STRIDE * c))]
        position = position.play(int(generator.choice(safe)))
    return position


def critical_positions(count: int = COUNT, seed: int = 0, plies: range = PLIES) -> Critical:
    """Those among ``count`` quiet random positions, solved now; the same for the same seed."""
    generator = np.random.default_rng(seed)
    found: dict[Position, None] = {}
    while len(found) < count:
        wanted = int(generator.choice(plies))
        position = safe_position(wanted, generator)
        score, _ = tactical_status(position.mine, position.theirs, position.plies)
        if position.plies == wanted and score == OPEN and position not in exam_positions():
            found[position] = None
    boards = np.array([(p.mine, p.theirs) for p in found], np.int64)
    scores = Solver().columns_many(list(found))
    full = scores == NO_SCORE
    signs = np.where(full, -2, np.sign(scores))
    keeps = signs == signs.max(axis=1, keepdims=True)
    critical = (~keeps & ~full).any(axis=1)
    return Critical(boards[critical], keeps[critical].astype(np.int8))


def blunders(evaluate: Evaluate, critical: Critical) -> float:
    """The share of positions in which the policy's column gives the value of the game away."""
    logits, _ = evaluate(critical.boards)
    occupied = critical.boards.sum(axis=1)[:, None]
    full = occupied >> (STRIDE * np.arange(COLUMNS) + STRIDE - 2) & 1
    columns = np.where(full == 1, -np.inf, logits).argmax(axis=1)
    return float(1 - critical.keeps[np.arange(len(columns)), columns].mean())


def score_against(
    player: Callable[[Observation], Any], opponent: Callable[[Observation], Any], plies: int = 2
) -> float:
    """The mean score, a draw counting half, over all openings of some plies with both colours.

    Args:
        player: asked about many boards at once, as ``agents.batched.opponent`` makes one.
        opponent: likewise.
        plies: of the openings, at most 3, so that none is won.
    """
    columns = itertools.product("1234567", repeat=plies)
    games = [(Position.parse("".join(o)), seat) for o in columns for seat in (0, 1)]
    total = len(games)
    points = 0.0
    while games:
        moved = []
        for asked, ours in ((player, True), (opponent, False)):
            some = [game for game in games if (game[0].to_move == game[1]) == ours]
            if some:
                seen = [observe(position) for position, _ in some]
                given: Any = {key: np.stack([s[key] for s in seen]) for key in seen[0]}  # type: ignore[literal-required]
                for (position, seat), column in zip(some, asked(given), strict=True):
                    moved.append((position.play(int(column)), seat))
        games = []
        for position, seat in moved:
            if position.outcome is None:
                games.append((position, seat))
            elif position.outcome.winner is None:
                points += 0.5
            else:
                points += position.outcome.winner == seat
    return points / total
