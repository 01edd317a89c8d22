"""Heuristics: static evaluations of the leaves of a search."""

from typing import Final

WIN: Final = 1_000_000.0
"""The value of a won game in a search; heuristic values lie strictly between -WIN and WIN."""
