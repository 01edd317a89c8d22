"""How strong a player is, asked about many boards at once: what self-play reports of its network.

Two figures: the share of critical moves that give away a win or a draw, and the score against
another player over all openings of two plies. None of the critical positions that are made here is
in the exam (``c4env.agents.solver.exam``), which is left for judging what was trained.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from c4env.agents.batched import BatchOpponent
from c4env.agents.sampling.tree import OPEN, tactical_status
from c4env.agents.solver import NO_SCORE, Solver
from c4env.agents.solver.exam import exam_positions
from c4env.arrays import Bools
from c4env.bitboard import COLUMN, COLUMNS, STRIDE
from c4env.observation import Observation, observe
from c4env.position import Position

PLIES: Final = range(14, 31)  # of the critical positions: those before take long to solve
COUNT: Final = 2_000


class Critical(NamedTuple):
    """N positions in which some columns keep the value of the game, and others do not."""

    seen: Observation  # [N, 6, 7, 2] and [N, 7]
    keeps: Bools  # [N, 7]

    @classmethod
    def of(cls, positions: Sequence[Position], signs: NDArray[Any]) -> Critical:
        """Those among some positions, by what each column is worth.

        Args:
            positions: N, none of which is over.
            signs: ``[N, 7]`` of the exact scores of the columns, less than -1 where one is full.
        """
        keeps = signs == signs.max(axis=1, keepdims=True)
        critical = (~keeps & (signs >= -1)).any(axis=1)
        return cls(observed(itertools.compress(positions, critical)), keeps[critical])


def safe_position(plies: int, generator: np.random.Generator) -> Position:
    """A position after so many random discs, none of which loses to the next.

    It has fewer discs where the next two decide the game.
    """
    position = Position()
    while position.plies < plies:
        score, cells = tactical_status(position.mine, position.theirs)
        if score != OPEN:
            break
        safe = [c for c in range(COLUMNS) if cells & (COLUMN << (STRIDE * c))]
        position = position.play(int(generator.choice(safe)))
    return position


def observed(positions: Iterable[Position]) -> Observation:
    """What the sides to move see, stacked."""
    seen = [observe(position) for position in positions]
    planes, masks = [s["observation"] for s in seen], [s["action_mask"] for s in seen]
    return {"observation": np.stack(planes), "action_mask": np.stack(masks)}


def critical_positions(count: int = COUNT, plies: range = PLIES, seed: int = 0) -> Critical:
    """Those among ``count`` random positions that the next two discs do not decide, solved now."""
    generator = np.random.default_rng(seed)
    found: dict[Position, None] = {}
    while len(found) < count:
        wanted = int(generator.choice(plies))
        position = safe_position(wanted, generator)
        score, _ = tactical_status(position.mine, position.theirs)
        if position.plies == wanted and score == OPEN and position not in exam_positions():
            found[position] = None
    positions = list(found)
    scores = Solver().columns_many(positions)
    return Critical.of(positions, np.where(scores == NO_SCORE, -2, np.sign(scores)))


def blunders(player: BatchOpponent, critical: Critical) -> float:
    """The share of critical positions in which a player gives the value of the game away."""
    columns = np.asarray(player(critical.seen))
    return float(1 - critical.keeps[np.arange(len(columns)), columns].mean())


def score_against(player: BatchOpponent, other: BatchOpponent, plies: int = 2) -> float:
    """A player's mean score, a draw counting half, with both colours.

    Args:
        player, other: who play.
        plies: of the openings, all of which are played; at most 6, so that none is won.
    """
    columns = itertools.product("1234567", repeat=plies)
    games = [(Position.parse("".join(o)), seat) for o in columns for seat in (0, 1)]
    total, points = len(games), 0.0
    while games:
        moved = []
        for asked, ours in ((player, True), (other, False)):
            some = [game for game in games if (game[0].to_move == game[1]) == ours]
            if some:
                chosen = np.asarray(asked(observed(position for position, _ in some)))
                for (position, seat), column in zip(some, chosen, strict=True):
                    moved.append((position.play(int(column)), seat))
        games = [game for game in moved if game[0].outcome is None]
        for position, seat in moved:
            if position.outcome is not None:
                winner = position.outcome.winner
                points += 0.5 if winner is None else winner == seat
    return points / total
