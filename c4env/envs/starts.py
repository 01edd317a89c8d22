"""Where games start and who plays: the arguments and options of the environments, checked.

A start is a position, or the moves that lead to it as 1-based columns. The openings of an
environment are the starts that its games draw from.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from gymnasium.vector import AutoresetMode

from c4env.arrays import Bools
from c4env.envs.streams import RANDOM_SEAT
from c4env.errors import (
    InvalidOption,
    UnknownKeyword,
    brief,
    is_boolean,
    require_integer,
    suggest,
)
from c4env.openings import Openings, starts_of
from c4env.position import Position, parse_moves
from c4env.rules import CELLS, playable, winning_cells

ILLEGAL: Final = ("lose", "raise")
_ONE_BOARD: Final = "a process has one board; write c4env.use_board('5x6x4') before"
_INSTEAD: Final = {  # of keywords that a user may expect
    "rows": _ONE_BOARD,
    "columns": _ONE_BOARD,
    "connect": _ONE_BOARD,
    "max_episode_steps": "the boards are one object; write also vectorization_mode='sync'",
}


def check_keywords(make: Callable[..., Any], options: Mapping[str, Any]) -> None:
    """Raise UnknownKeyword if what is to be made has no parameter of a name."""
    known = [*inspect.signature(make).parameters]
    for name, value in options.items():
        if name in known:
            continue
        if name in _INSTEAD:
            otherwise = f": {name}={value!r}: {_INSTEAD[name]}"
        else:
            otherwise = suggest(name, known, f": expected one of {known}")
        said = f"{make.__name__}() got an unexpected keyword argument {name!r}"  # as Python says it
        raise UnknownKeyword(said + otherwise)


def parse_seed(seed: object) -> int | None:
    """Return a seed as a plain int, or None."""
    return None if seed is None else require_integer("seed", seed, 0, "None or an integer >= 0")


def parse_player(self_play: bool, seat: Any) -> int:
    """Return the caller's player: 0, 1, ``RANDOM_SEAT``, or -1 in self-play."""
    if is_boolean(seat) or seat not in (0, 1, "random"):
        raise InvalidOption(f"seat={seat!r}: expected 0, 1 or 'random'")
    return -1 if self_play else RANDOM_SEAT if seat == "random" else int(seat)


def loses_when_illegal(illegal: object) -> bool:
    """Return True for ``"lose"`` (a full column loses the game), False for ``"raise"``."""
    if illegal not in ILLEGAL:
        raise InvalidOption(f"illegal={illegal!r}: expected one of {list(ILLEGAL)}")
    return illegal == "lose"


def parse_autoreset(
    mode: AutoresetMode | str, modes: Iterable[AutoresetMode] = AutoresetMode
) -> AutoresetMode:
    """Return the mode of autoreset that a mode or its value names, if it is in ``modes``."""
    for each in modes:
        if mode in (each, each.value):
            return each
    names = [each.value for each in modes]
    raise InvalidOption(f"autoreset_mode={mode!r}: expected one of {names}")


def parse_where(where: Any, size: int) -> Bools:
    """Check a mask of boards, bool ``[size]``, and return a copy; None chooses all boards."""
    if where is None:
        return np.ones(size, np.bool_)
    array = np.asarray(where)
    if array.shape != (size,) or array.dtype != np.bool_:
        raise InvalidOption(
            f"a choice of boards of shape {array.shape} and dtype {array.dtype}: "
            f"expected ({size},) and bool"
        )
    return array.copy()


# -- starts ----------------------------------------------------------------------------


def parse_starts(starts: Position | str | Sequence[Position | str]) -> list[Position]:
    """Return one or more starts as positions of unfinished games."""
    several = [starts] if isinstance(starts, (Position, str)) else starts
    if not isinstance(several, Sequence):
        raise InvalidOption(f"{brief(starts)}: expected positions or moves such as '4455'")
    if not several:
        raise InvalidOption("no positions: expected at least one")
    found = []
    for start in several:
        position = Position.parse(start) if isinstance(start, str) else start
        if not isinstance(position, Position):
            raise InvalidOption(f"{position!r}: expected a c4env.Position or moves such as '4455'")
        if position.outcome is not None:
            raise InvalidOption(f"cannot start from a finished game: {position!r}")
        found.append(position)
    return found


def parse_openings(openings: Openings | None, player: int) -> list[Position]:
    """Return the positions to start from; None means the empty board.

    Openings that the opponent's first move could end are left out, with a warning.
    """
    positions = parse_starts("" if openings is None else starts_of(openings))
    kept = [position for position in positions if not could_end(position, player)]
    ended = len(positions) - len(kept)
    left_out = f"openings: in {ended} of {len(positions)} the opponent's first move could end"
    if not kept:
        raise InvalidOption(f"{left_out} the game: expected at least one other opening")
    if ended:
        warnings.warn(f"{left_out} the game; they are left out", stacklevel=3)
    return kept


def require_starts(positions: Iterable[Position], player: int) -> None:
    """Raise an error if the opponent's first move could end one of these start positions."""
    for position in positions:
        if could_end(position, player):
            raise InvalidOption(
                f"cannot start from {position!r}: the opponent is to move and could end the game"
            )


def could_end(position: Position, player: int) -> bool:
    """Return whether the caller's opponent is to move and could end the game."""
    if player < 0 or position.to_move == player:
        return False
    wins = winning_cells(position.mine) & playable(position.mine | position.theirs)
    return bool(wins) or position.plies == CELLS - 1


# -- the options of a reset ------------------------------------------------------------


def check_options(
    options: Mapping[str, Any] | None, names: Collection[str], *, warn: bool = False
) -> Mapping[str, Any]:
    """Return the options of a ``reset``; an unknown one is an error.

    With ``warn``, as in PettingZoo, an unknown one causes a warning, and the option ``"options"``,
    which PettingZoo's ``api_test`` passes, has no effect.
    """
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise InvalidOption(f"options={options!r}: expected a dict or None")
    known = (*names, "options") if warn else names
    unknown = sorted(str(key) for key in options if key not in known)
    if unknown:
        message = f"unknown option {', '.join(unknown)}: expected {' or '.join(names)}"
        if not warn:
            raise InvalidOption(message)
        warnings.warn(message, stacklevel=4)
    if "moves" in options and "position" in options:
        raise InvalidOption("moves and position: expected only one of the two options")
    return options


def starts_in(options: Mapping[str, Any], count: int = 1) -> list[Position] | None:
    """Return the start in the options of ``reset``, or one for each of ``count`` games, or None.

    Args:
        options: ``"moves"`` or ``"position"`` has the start, or a list of ``count`` starts; or
            neither option is given.
        count: the number of games that begin.
    """
    given = options.get("moves", options.get("position"))
    if given is None:
        return None
    starts = parse_starts(given)
    if len(starts) not in (1, count):
        expected = "1" if count == 1 else f"1 or {count}"
        raise InvalidOption(f"{len(starts)} starts: expected {expected}")
    return starts


def moves_in(options: Mapping[str, Any]) -> str | None:
    """Return the moves that lead to the only start in the options, if it is given as moves."""
    given = options.get("moves", options.get("position"))
    if isinstance(given, Sequence) and not isinstance(given, str):
        (given,) = given
    return given if isinstance(given, str) else None


def last_move(options: Mapping[str, Any]) -> int | None:
    """Return the last column of :func:`moves_in`; None if it has no column."""
    moves = moves_in(options)
    return parse_moves(moves)[-1] if moves else None
