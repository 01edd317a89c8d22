"""Checks of the arguments and options that the environments share."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from gymnasium.vector import AutoresetMode

from c4env.errors import InvalidOption, require_integer
from c4env.position import Position, parse_moves

ILLEGAL: Final = ("lose", "raise")


def parse_seed(seed: object) -> int | None:
    """Return a seed as a plain int, or None."""
    return None if seed is None else require_integer("seed", seed, 0, "None or an integer >= 0")


def loses_when_illegal(illegal: object) -> bool:
    """Return True for ``"lose"`` (a full column loses the game), False for ``"raise"``."""
    if illegal not in ILLEGAL:
        raise InvalidOption(f"illegal={illegal!r}: expected one of {list(ILLEGAL)}")
    return illegal == "lose"


def parse_autoreset(
    mode: AutoresetMode | str, modes: Iterable[AutoresetMode] = AutoresetMode
) -> AutoresetMode:
    """Return a mode of autoreset, given as such or as its value, if it is one of ``modes``."""
    for each in modes:
        if mode in (each, each.value):
            return each
    names = [each.value for each in modes]
    raise InvalidOption(f"autoreset_mode={mode!r}: expected one of {names}")


def check_options(
    options: Mapping[str, Any] | None, names: Collection[str], expected: str, *, warn: bool = False
) -> Mapping[str, Any]:
    """Return the options of a ``reset``; an unknown one is an error, or causes a warning."""
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise InvalidOption(f"options={options!r}: expected a dict or None")
    unknown = sorted(str(key) for key in options if key not in names)
    if unknown:
        message = f"unknown option {', '.join(unknown)}: expected {expected}"
        if not warn:
            raise InvalidOption(message)
        warnings.warn(message, stacklevel=5)
    if "moves" in options and "position" in options:
        raise InvalidOption("moves and position: expected only one of the two options")
    return options


def parse_start(
    options: Mapping[str, Any] | None, *, warn: bool = False
) -> tuple[Position, int | None]:
    """Return the start position in the options of ``reset``, and its last move or None.

    Args:
        options: ``{"moves": "4455"}`` (1-based columns), ``{"position": position}``, or
            neither for the empty board. The key ``"options"``, which PettingZoo's ``api_test``
            passes, has no effect.
        warn: warn about unknown options instead of raising an error.
    """
    names = "moves", "position", "options"
    options = check_options(options, names, "moves or position", warn=warn)
    position, last = Position(), None
    if "moves" in options:
        columns = parse_moves(options["moves"])
        position, last = Position.parse(options["moves"]), columns[-1] if columns else None
    elif "position" in options:
        position = options["position"]
        if not isinstance(position, Position):
            raise InvalidOption(f"position={position!r}: expected a c4env.Position")
    if position.outcome is not None:
        raise InvalidOption(f"cannot start from a finished game: {position!r}")
    return position, last
