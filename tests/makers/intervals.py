"""Simulate runs of known strengths, and count how often the 95 % intervals hold the truth.

The table is that of docs/explanation/statistics.md. It takes some minutes on one core.
"""

from __future__ import annotations

from c4env.evaluation.tables import Table
from tests.evaluation.test_simulation import World, evenly, held

SEED = 9  # no choice was made with it
COLUMNS = {
    "field": "", "openings": "", "all pairs": ".1%", "worst pair": ".1%",
    "median width, Elo": ".0f",
}  # fmt: skip
ROWS = (
    ("2, equal", World((0.0, 0.0)), 25, 120),
    ("2, the first wins 90 %", World(evenly(2, 191), by_opening=0), 25, 120),
    (
        "2, equal; in about 21 openings one colour wins both games",
        World((0.0, 0.0), by_opening=800),
        25,
        120,
    ),
    ("7, evenly apart", World(evenly(7, 350)), 4, 60),
    ("7, evenly apart", World(evenly(7, 350)), 8, 60),
    ("7, evenly apart", World(evenly(7, 350)), 25, 60),
    ("7, one never scores", World((*evenly(6, 60), -1000.0), by_opening=0), 25, 60),
    ("7, two play nearly the same games", World((0.0, *evenly(5, 200), 0.0), twin=True), 25, 60),
    ("9, equal", World((0.0,) * 9), 8, 60),
    ("21, evenly apart", World(evenly(21, 520)), 25, 20),
)


def run() -> Table:
    """Simulate each row."""
    rows = []
    for about, world, openings, runs in ROWS:
        counts = held(world, openings, runs, SEED)
        least = counts.least if len(world.elo) > 2 else None
        rows.append((about, openings, counts.elo, least, counts.width))
    return Table.of(COLUMNS, rows)
