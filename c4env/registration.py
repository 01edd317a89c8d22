"""The environments under their names in the registries of PettingZoo and Gymnasium."""

from __future__ import annotations

import sys
from typing import Final

AEC_ID: Final = "c4env/connect_four-v0"


def register_aec() -> None:
    """Make ``pettingzoo.make("aec", "c4env/connect_four-v0")`` work.

    A PettingZoo without a registry (before 1.27) is left alone.
    """
    try:
        from pettingzoo.env_registry.registration import aec_registry, register
    except ImportError:
        return
    if AEC_ID not in aec_registry:
        register("aec", AEC_ID, entry_point="c4env.aec:env")


def register_with_loaded() -> None:
    """Register with those of the two libraries that are already imported; imports neither."""
    if "pettingzoo" in sys.modules:
        register_aec()
