"""The Elo of each skill of ``graded``.

``python -m tests.makers graded fit --seed 1`` measured them on 2026-11-25. Each skill played
the agents of the shipped leaderboard until the standard error of its Elo was below 12. The
first and the last Elo are those of ``random`` and ``perfect`` in the leaderboard of that day; they
lie within the intervals of a later one.

The zero of the scale follows from ANCHOR: the mean Elo of these agents is ANCHOR_ELO. The zero of a
leaderboard is the mean of its field, so the scales differ when the field changes.
"""

from __future__ import annotations

from typing import Final

ANCHOR: Final = (
    *("alphabeta-chain", "alphabeta-window", "alphabeta-window:depth=7", "alphabeta-window-b"),
    "rust-port",
)
ANCHOR_ELO: Final = -162.46

# fmt: off
ELO_LEVELS: Final = (
    -1114, -977, -836, -720, -621, -482, -393, -313, -257, -185, -111, -40, -24, 43, 84, 112,
    167, 207, 299, 426,
)
SKILL_LEVELS: Final = (
    0, 0.05, 0.1, 0.15, 0.2, 0.26, 0.295, 0.33, 0.375, 0.42, 0.5, 0.6, 0.67, 0.8, 1, 1.2, 1.4,
    1.6, 1.8, 2,
)
# fmt: on
