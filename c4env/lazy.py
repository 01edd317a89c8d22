"""What is imported only when it is used: names of a package, and packages of an extra."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from c4env.boards import STANDARD, size_of, twin
from c4env.errors import MissingExtra


def lazy_names(
    package: str, modules: Mapping[str, str], packages: str = ""
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package whose names live in modules of their own.

    So importing the package imports none of them, and compiles nothing.

    Args:
        package: its ``__name__``, which also says for which board its names are.
        modules: the names to find in each module, parted by blanks.
        packages: packages and modules within it that are names of it too, parted by blanks.

    Returns:
        both functions. ``dir`` shows these names and those of ``__all__``, and nothing else.
    """
    size = size_of(package) or STANDARD
    homes = {name: module for module, listed in modules.items() for name in listed.split()}

    def find(name: str) -> Any:
        if name in packages.split():
            return importlib.import_module(twin(f"{package}.{name}", size))
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(twin(homes[name], size)), name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*sys.modules[package].__all__, *homes, *packages.split()})

    return find, names


@contextmanager
def from_extra(extra: str, words: str) -> Iterator[None]:
    """Imports of packages that come with an extra of this one.

    Args:
        extra: its name.
        words: what is said where they are not installed, such as "a frame needs pandas".

    Raises:
        MissingExtra: an import fails.
    """
    try:
        yield
    except ImportError as error:
        raise MissingExtra(f"{words}: pip install 'c4env[{extra}]' ({error})") from None
