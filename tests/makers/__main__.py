"""Make or check what ships, and the statistics: python -m tests.makers NAME."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tests.helpers.dispatch import dispatch


def main(argv: Sequence[str] | None = None) -> int:
    """Run one of them; returns the exit code."""
    names = (
        "ablations",
        "book",
        "curves",
        "exam",
        "graded",
        "selfplay",
        "statistics",
        "threats",
        "weights",
    )
    return dispatch("tests.makers", names, argv)


if __name__ == "__main__":
    sys.exit(main())
