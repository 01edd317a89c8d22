"""Declare a command's options by the keywords of a public function or dataclass.

    add_options(parser, refute, "positions limit")

A keyword's annotation is the option's type, the first sentence about it in the docstring the help,
and the signature's default the default. So the command line says what Python's ``help`` says.
"""

from __future__ import annotations

import argparse
import inspect
import typing
from collections.abc import Callable
from typing import Any, Final

from ...agents.registry.options import told

_KINDS: Final = (str, int, float)  # a keyword that takes a text and more is read as text
_PLACEHOLDERS: Final = {"out": "DIR", int: "N", float: "SECONDS"}


def add_options(
    parser: argparse._ActionsContainer, declared: Callable[..., Any], names: str, **defaults: Any
) -> None:
    """Declare options for keywords of a function or dataclass.

    Args:
        parser: a parser or a group of one.
        declared: the function or dataclass.
        names: keywords of it, separated by blanks.
        defaults: defaults of the command that differ from those of the signature.
    """
    said, hints = told(declared.__doc__), typing.get_type_hints(declared)
    parameters = inspect.signature(declared).parameters
    for name in names.split():
        kinds = {hints[name], *typing.get_args(hints[name])}
        kind = next((kind for kind in _KINDS if kind in kinds), str)
        default = defaults.get(name, parameters[name].default)
        shown = "" if default is None else f" (default {default})"
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            type=kind,
            default=defaults.get(name),
            metavar=_PLACEHOLDERS.get(name) or _PLACEHOLDERS.get(kind, name.upper()),
            help=said[name] + shown,
        )


def given(arguments: argparse.Namespace, *declared: Callable[..., Any]) -> dict[str, Any]:
    """Return the options that have a value, as keyword arguments of what declares them."""
    names = {name for function in declared for name in inspect.signature(function).parameters}
    values = {name: getattr(arguments, name, None) for name in sorted(names)}
    return {name: value for name, value in values.items() if value is not None}
