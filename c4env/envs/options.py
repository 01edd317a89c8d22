"""Arguments of ``reset()``, checked the same way in every environment."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

from c4env.bitboard import CELLS, playable, winning_cells
from c4env.errors import InvalidOption
from c4env.position import Position, parse_moves


def check_seed(seed: object) -> None:
    """Refuse a seed that is not None or an integer >= 0.

    Raises:
        InvalidOption: it is something else.
    """
    if seed is None:
        return
    try:
        good = not isinstance(seed, bool) and operator.index(seed) >= 0  # type: ignore[arg-type]
    except TypeError:
        good = False
    if not good:
        raise InvalidOption(f"seed={seed!r}: expected None or an integer >= 0")


def parse_start(options: Mapping[str, Any] | None) -> tuple[Position, int | None]:
    """The position that ``reset(options=...)`` asks for, and its last move if that is known.

    Args:
        options: ``{"moves": "4455"}`` (1-based columns), ``{"position": position}``, or
            neither for the empty board. The key ``"options"``, a placeholder that
            PettingZoo's ``api_test`` passes, is passed over.

    Raises:
        InvalidOption: another option, both, or a finished game.
        InvalidNotation, IllegalMove: bad ``moves``.
    """
    if options is None:
        return Position(), None
    if not isinstance(options, Mapping):
        raise InvalidOption(f"options={options!r}: expected a dict or None")
    unknown = sorted(str(key) for key in options if key not in ("moves", "position", "options"))
    if unknown:
        raise InvalidOption(f"unknown option {', '.join(unknown)}: expected moves or position")
    if "moves" in options and "position" in options:
        raise InvalidOption("moves and position: expected only one of the two options")
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


def refuse_instant_end(position: Position) -> None:
    """Refuse a start that the opponent, to move, could end before the caller's first move.

    Raises:
        InvalidOption: the side to move can win at once, or plays the last disc.
    """
    wins = winning_cells(position.mine) & playable(position.mine | position.theirs)
    if wins or position.plies == CELLS - 1:
        raise InvalidOption(
            f"cannot start from {position!r}: the opponent, to move there, could end the game"
        )
