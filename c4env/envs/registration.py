"""Register the environments' ids with PettingZoo and Gymnasium."""

from __future__ import annotations

from typing import Any, Final

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
        single, many = "c4env.envs.single:make_single", f"{__name__}:many_singles"
        register(SINGLE_ID, entry_point=single, vector_entry_point=many)
    if SELF_PLAY_ID not in registry:
        single, many = f"{__name__}:no_single", f"{__name__}:many_boards"
        register(SELF_PLAY_ID, entry_point=single, vector_entry_point=many)
    try:
        from pettingzoo.env_registry.registration import aec_registry
        from pettingzoo.env_registry.registration import register as register_aec
    except (ImportError, FileNotFoundError):  # its import fails in a deleted working folder
        return
    if AEC_ID not in aec_registry:
        register_aec("aec", AEC_ID, entry_point=f"{__name__}:for_two")


def many_singles(num_envs: int = 1, opponent: Any = None, **options: Any) -> Any:
    """Make the vector environment that equals ``num_envs`` objects of ``ConnectFourEnv``."""
    from c4env.envs.opponents import RANDOM

    opponent = RANDOM if opponent is None else opponent
    options = {"layout": "flat", "dtype": "float32", "action_mask": "info", **options}
    return many_boards(num_envs, opponent=opponent, **options)


def many_boards(num_envs: int = 1, **options: Any) -> Any:
    """Return the vector environment; the error for a mistyped keyword names it."""
    from c4env.envs.starts import check_keywords
    from c4env.envs.vector import ConnectFourVectorEnv

    check_keywords(ConnectFourVectorEnv, options)
    return ConnectFourVectorEnv(num_envs, **options)


def for_two(**options: Any) -> Any:
    """Return PettingZoo's environment; the error for a mistyped keyword names it."""
    from c4env.envs.aec import env
    from c4env.envs.starts import check_keywords

    check_keywords(env, options)
    return env(**options)


def no_single(**options: Any) -> None:
    """Refuse ``gymnasium.make(SELF_PLAY_ID)``."""
    raise InvalidOption(
        f"{SELF_PLAY_ID} has many boards: expected gymnasium.make_vec, or gymnasium.make of "
        f"{SINGLE_ID} for one player on one board, or c4env.env() for both players"
    )
