"""Imports on first use, and imports of optional packages."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from c4env.errors import MissingExtra

EXTRAS: Final = {
    "chat": "openai",
    "dask": "distributed",
    "jax": "jax",
    "pandas": "pandas",
    "parquet": "pyarrow",
    "peers": "bitbully pygame-ce pgx",
    "plots": "matplotlib",
    "ray": "ray",
    "sb3": "sb3-contrib",
    "torch": "torch",
    "web": "starlette uvicorn",
    "window": "pygame-ce",
}
"""The packages of each extra in ``pyproject.toml``. Messages name the packages, because ``c4env``
on a package index may be another project's."""


def lazy_names(
    package: str, modules: Mapping[str, str], packages: str = ""
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` for a package that imports its names on first use.

    Importing the package then compiles nothing.

    Args:
        package: the package's ``__name__``.
        modules: for each module, the names to import from it, separated by blanks.
        packages: public subpackages and submodules, separated by blanks.

    Returns:
        ``__getattr__`` and ``__dir__``. ``__dir__`` lists these names, except ``__version__``, and
        the names in ``__all__``.
    """
    module_of = {name: module for module, names in modules.items() for name in names.split()}

    def find(name: str) -> Any:
        if name in packages.split():
            return importlib.import_module(f"{package}.{name}")
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(module_of[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    def list_names() -> list[str]:
        names = {*sys.modules[package].__all__, *module_of, *packages.split()}
        return sorted(name for name in names if not name.startswith("_"))

    return find, list_names


def agents_module(name: str) -> Any:
    """Return the module ``c4env.agents.NAME``.

    ``c4env.agents`` stands on ``c4env``, which has no import statement for it. An opponent, an
    exact reward and the openings that the solver knows need it all the same, when they are used.
    """
    return importlib.import_module(f"c4env.agents.{name}")


@contextmanager
def from_extra(extra: str, words: str) -> Iterator[None]:
    """Make a context manager for importing the packages of one of :data:`EXTRAS`.

    Raises:
        MissingExtra: an import failed.
    """
    try:
        yield
    except ImportError as error:
        raise MissingExtra(f"{words}: pip install {EXTRAS[extra]} ({error})") from None
