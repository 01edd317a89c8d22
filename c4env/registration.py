"""The environments under their names in the registries of PettingZoo and Gymnasium."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Final

AEC_ID: Final = "c4env/connect_four-v0"
SINGLE_ID: Final = "c4env/ConnectFour-v0"


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


def register_single() -> None:
    """Make ``gymnasium.make`` and ``make_vec`` find ``"c4env/ConnectFour-v0"``."""
    from gymnasium.envs.registration import register, registry

    if SINGLE_ID not in registry:
        register(
            SINGLE_ID,
            entry_point="c4env.single:ConnectFourEnv",
            vector_entry_point="c4env.vector:ConnectFourVectorEnv",
        )


_REGISTER: Final = {"gymnasium": register_single, "pettingzoo": register_aec}


class _AfterImport(MetaPathFinder):
    """Registers with a library when that library is imported.

    Importing either takes a quarter of a second that most uses of this package do not
    need, and neither has a way to be told of other people's environments beforehand.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        register = _REGISTER.get(fullname)
        if register is None:
            return None
        for finder in sys.meta_path:
            if finder is self:
                continue
            spec = finder.find_spec(fullname, path, target)
            if spec is not None:
                _call_after_execution(spec, register)
                return spec
        return None


def _call_after_execution(spec: ModuleSpec, call: Callable[[], None]) -> None:
    loader = spec.loader
    if loader is None:
        return
    execute = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        execute(module)
        if module.__name__ == spec.name:  # some loaders serve several modules
            call()

    loader.exec_module = exec_module  # type: ignore[method-assign]  # of this loader


def install() -> None:
    """Register with Gymnasium and PettingZoo: now if they are imported, else when they are."""
    for name, register in _REGISTER.items():
        if name in sys.modules:
            register()
    if not any(isinstance(finder, _AfterImport) for finder in sys.meta_path):
        sys.meta_path.insert(0, _AfterImport())
