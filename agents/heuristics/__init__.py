"""Heuristics: static evaluations, by which a search values its leaves."""

__in_kernels__ = True

from typing import Final

WIN: Final = 1_000_000.0
"""Value of a won game in the searches; every heuristic stays strictly between -WIN and WIN."""
