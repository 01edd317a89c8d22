"""The callback by which a long computation shows its progress."""

from __future__ import annotations

from collections.abc import Callable

ProgressCallback = Callable[[int, int], None]
"""A function that is called from time to time with the amount done and the total."""
