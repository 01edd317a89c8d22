"""Make or check what ships: python -m tests.makers book, exam, selfplay, threats."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tests.helpers.dispatch import dispatch


def main(argv: Sequence[str] | None = None) -> int:
    """Run one of them; returns the exit code."""
    return dispatch("tests.makers", ("book", "exam", "selfplay", "threats"), argv)


if __name__ == "__main__":
    sys.exit(main())
