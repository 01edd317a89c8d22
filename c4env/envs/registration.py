"""Register the environments' ids with PettingZoo and Gymnasium."""

from __future__ import annotations

import importlib
from functools import partial
from typing import Any, Final

from c4env.boards import STANDARD, board
from c4env.errors import InvalidOption

AEC_ID: Final = "c4env/connect_four-v0"
SINGLE_ID: Final = "c4env/ConnectFour-v0"
SELF_PLAY_ID: Final = "c4env/ConnectFourSelfPlay-v0"


def register_all() -> None:
    """Register the environments with ``pettingzoo.make`` and ``gymnasium.make``.

    ``gymnasium.make(SINGLE_ID)`` makes an environment with a random opponent by default, and
    ``make_vec(SINGLE_ID)`` makes many, stepped at once. ``make_vec(SELF_PLAY_ID)`` makes the vector
    environment, by default for self-play.

    Entry points are text, so nothing compiles until a program makes an environment. PettingZoo
    before 1.27 has no registry, and registration there is skipped.
    """
    from gymnasium.envs.registration import register, registry

    if SINGLE_ID not in registry:
        many = f"{__name__}:singles"
        register(SINGLE_ID, entry_point=f"{__name__}:single", vector_entry_point=many)
    if SELF_PLAY_ID not in registry:
        many = f"{__name__}:vector"
        register(SELF_PLAY_ID, entry_point=f"{__name__}:no_single", vector_entry_point=many)
    try:
        from pettingzoo.env_registry.registration import aec_registry
        from pettingzoo.env_registry.registration import register as register_aec
    except (ImportError, FileNotFoundError):  # its import fails in a deleted working folder
        return
    if AEC_ID not in aec_registry:
        register_aec("aec", AEC_ID, entry_point="c4env.envs.aec:env")


def _make(
    module: str,
    name: str,
    rows: int = STANDARD.rows,
    columns: int = STANDARD.columns,
    connect: int = STANDARD.connect,
    **options: Any,
) -> Any:
    """Make an environment of a board size."""
    package = board(rows, columns, connect).__name__
    return getattr(importlib.import_module(module, package), name)(**options)


single = partial(_make, ".envs.single", "ConnectFourEnv")
singles = partial(_make, ".envs.single", "SinglesVectorEnv")
vector = partial(_make, ".envs.vector", "ConnectFourVectorEnv")


def no_single(**options: Any) -> None:
    """Refuse ``gymnasium.make(SELF_PLAY_ID)``."""
    raise InvalidOption(
        f"{SELF_PLAY_ID} has many boards: expected gymnasium.make_vec, or gymnasium.make of "
        f"{SINGLE_ID} for one player on one board, or c4env.env() for both players"
    )
