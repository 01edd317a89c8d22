"""Simulate matches of known differences, and find the difference that a match shows 4 times in 5.

A match shows a difference if its 95 % interval excludes 0 on the right side. The table is that of
docs/explanation/statistics.md. It takes some minutes on one core.
"""

from __future__ import annotations

import numpy as np

from c4env.evaluation.ratings.power import CHANCE, shown_difference
from c4env.evaluation.ratings.ratings import rate
from c4env.evaluation.tables import Table
from tests.evaluation.test_simulation import World, tally

SEED = 5
OPENINGS = {25: 100, 121: 100, 568: 60, 2144: 40}  # and matches for each difference
DRAWS = (0.0, 0.3)
TRIED = (0.8, 1.0, 1.25)  # times the difference that the rule of c4 match says
COLUMNS = {"openings": "", "games": "", "no draws": ".0f", "30 % draws": ".0f", "rule": ".0f"}


def chance_shown(world: World, openings: int, matches: int, seed: int) -> float:
    """The share of matches whose interval of the difference lies above 0."""
    generator, games = np.random.default_rng([seed, openings]), 1.0 - np.eye(2)
    shown = 0
    for match in range(matches):
        ratings = rate(tally(world.points(openings, generator), games), seed=match)
        shown += ratings.difference("000", "001").low > 0
    return shown / matches


def needed(openings: int, draws: float, matches: int) -> float:
    """The difference in Elo that is shown with the chance, by a line through those tried."""
    games, generator = 1.0 - np.eye(2), np.random.default_rng(SEED)
    true, shown = [], []
    for factor in TRIED:
        elo = factor * shown_difference(openings) / 2 / (1 - draws)
        world = World((elo, -elo), draws=draws)
        true.append(float(np.ptp(world.truth(games, generator)[0])))
        shown.append(chance_shown(world, openings, matches, SEED))
    return float(np.interp(CHANCE, shown, true))


def run() -> Table:
    """Simulate each number of openings."""
    rows = [
        (n, 2 * n, *(needed(n, draws, matches) for draws in DRAWS), shown_difference(n))
        for n, matches in OPENINGS.items()
    ]
    return Table.of(COLUMNS, rows)
