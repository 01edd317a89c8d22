"""The Elo of each skill of ``graded``.

``python -m tests.makers graded fit --seed 1`` measured them on 2026-11-25. Every skill played
the agents of the shipped leaderboard until the standard error of its Elo was below 12. The
first and the last Elo are the Elo of ``random`` and ``perfect`` in the leaderboard of that day;
they lie within the intervals of a later leaderboard.

Elo 0 means the same as in the shipped leaderboard. ANCHOR ties the two scales: the mean Elo of
these agents is ANCHOR_ELO in both. The zero of a leaderboard is the mean of its field, so if its
field changes, every Elo here moves by the difference; a test compares them.
"""

from __future__ import annotations

from typing import Final

ANCHOR: Final = (
    *("alphabeta-chain", "alphabeta-window", "alphabeta-window:depth=7", "alphabeta-window-b"),
    "rust-port",
)
ANCHOR_ELO: Final = -157.23

# fmt: off
ELO_LEVELS: Final = (
    -1109, -972, -831, -715, -616, -477, -388, -308, -252, -180, -106, -35, -19, 48, 89, 117,
    172, 212, 304, 431,
)
SKILL_LEVELS: Final = (
    0, 0.05, 0.1, 0.15, 0.2, 0.26, 0.295, 0.33, 0.375, 0.42, 0.5, 0.6, 0.67, 0.8, 1, 1.2, 1.4,
    1.6, 1.8, 2,
)
# fmt: on
