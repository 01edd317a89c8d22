"""Heuristics: static evaluations of the leaves of a search."""

from typing import Final

QUIET: Final = "C4ENV_QUIET"
"""The variable that is set in a process whose notices another process has printed already."""

WIN: Final = 1_000_000.0
"""The value of a won game in a search; heuristic values lie strictly between -WIN and WIN."""
