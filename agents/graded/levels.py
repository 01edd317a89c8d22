"""The Elo of each skill of ``graded``.

``python -m tests.makers graded fit`` wrote them.
"""

from typing import Final

__any_board__ = True

ELO: Final = (-1114, 426)
SKILL: Final = (0.0, 2.0)
