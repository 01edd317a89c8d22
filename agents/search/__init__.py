"""Minimax and alpha-beta search: to a fixed depth, with a table, or by the clock."""

from typing import Final

WIN: Final = 1_000_000.0
"""Value of a won game in the searches; every heuristic stays strictly between -WIN and WIN."""
