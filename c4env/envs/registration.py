"""Register the environments' ids with PettingZoo and Gymnasium."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from c4env.boards import STANDARD, board

if TYPE_CHECKING:
    from gymnasium import Env
    from gymnasium.vector import VectorEnv

AEC_ID: Final = "c4env/connect_four-v0"
SINGLE_ID: Final = "c4env/ConnectFour-v0"
FLOAT_ID: Final = "c4env/ConnectFour-float32-v0"
SELF_PLAY_ID: Final = "c4env/ConnectFourSelfPlay-v0"


def register_all() -> None:
    """Register the environments with ``pettingzoo.make`` and ``gymnasium.make``.

    ``gymnasium.make(SINGLE_ID)`` makes an environment with a random opponent by default, and
    ``make_vec(SINGLE_ID)`` makes several. ``FLOAT_ID`` has float32 observations, for programs that
    pass observations straight to a network. ``make_vec(SELF_PLAY_ID)`` makes the vector
    environment, by default for self-play.

    Entry points are text, so nothing compiles until a program makes an environment. PettingZoo
    before 1.27 has no registry, and registration there is skipped.
    """
    from gymnasium.envs.registration import register, registry

    if SINGLE_ID not in registry:
        register(SINGLE_ID, entry_point=f"{__name__}:single")
    if FLOAT_ID not in registry:
        register(FLOAT_ID, entry_point=f"{__name__}:single", kwargs={"dtype": "float32"})
    if SELF_PLAY_ID not in registry:
        register(SELF_PLAY_ID, vector_entry_point=f"{__name__}:vector")
    try:
        from pettingzoo.env_registry.registration import aec_registry
        from pettingzoo.env_registry.registration import register as register_aec
    except (ImportError, FileNotFoundError):  # its import fails in a deleted working folder
        return
    if AEC_ID not in aec_registry:
        register_aec("aec", AEC_ID, entry_point="c4env.envs.aec:env")


def single(
    *,
    rows: int = STANDARD.rows,
    columns: int = STANDARD.columns,
    connect: int = STANDARD.connect,
    **options: Any,
) -> Env[Any, Any]:
    """Make the ``ConnectFourEnv`` of a board size, for ``gymnasium.make``."""
    made: Env[Any, Any] = board(rows, columns, connect).ConnectFourEnv(**options)
    return made


def vector(
    *,
    rows: int = STANDARD.rows,
    columns: int = STANDARD.columns,
    connect: int = STANDARD.connect,
    **options: Any,
) -> VectorEnv[Any, Any, Any]:
    """Make the ``ConnectFourVectorEnv`` of a board size, for ``gymnasium.make_vec``."""
    made: VectorEnv[Any, Any, Any] = board(rows, columns, connect).ConnectFourVectorEnv(**options)
    return made
