"""Simulate fields with and without a circle, and count how often one is found.

The table is that of docs/explanation/statistics.md. It takes some minutes on one core.
"""

from __future__ import annotations

from c4env.evaluation.tables import Table
from tests.evaluation.test_simulation import World, alarms, evenly

SEED = 9
RUNS = 100
ROWS = (
    ("9, equal", "none", World((0.0,) * 9), 25),
    ("21, equal", "none", World((0.0,) * 21), 25),
    ("7, evenly apart", "none", World(evenly(7, 350)), 25),
    ("7, two play nearly the same games", "none", World(evenly(7, 200), twin=True), 25),
    ("9, 50 Elo apart, styles of 150", "none", World(evenly(9, 200), by_style=150), 25),
    ("21, 30 Elo apart, styles of 150", "none", World(evenly(21, 300), by_style=150), 25),
    ("3, equal", "300", World((0.0,) * 3, circle=300), 25),
    ("7, evenly apart", "300", World(evenly(7, 350), circle=300), 8),
    ("7, evenly apart", "100", World(evenly(7, 350), circle=100), 25),
    ("7, evenly apart", "200", World(evenly(7, 350), circle=200), 25),
    ("7, evenly apart", "300", World(evenly(7, 350), circle=300), 25),
    ("7, evenly apart", "100", World(evenly(7, 350), circle=100), 121),
    ("21, evenly apart", "300", World(evenly(21, 520), circle=300), 25),
    ("21, equal", "300", World((0.0,) * 21, circle=300), 25),
)


def run() -> Table:
    """Simulate each row."""
    columns = {"field": "", "circle, Elo": "", "openings": "", "runs with a note": ".0%"}
    rows = [
        (agents, circle, openings, alarms(world, openings, RUNS, SEED))
        for agents, circle, world, openings in ROWS
    ]
    return Table.of(columns, rows)
