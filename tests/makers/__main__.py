"""Make or check the data that ships, and the statistics: python -m tests.makers NAME."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tests.helpers.dispatch import dispatch


def main(argv: Sequence[str] | None = None) -> int:
    """Run one of them; returns the exit code."""
    return dispatch("tests.makers", ("book", "exam", "statistics"), argv)


if __name__ == "__main__":
    sys.exit(main())
