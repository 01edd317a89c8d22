"""Where games start, and which player is the caller's: the arguments of environments, checked."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

from c4env.envs.streams import RANDOM_SEAT
from c4env.errors import InvalidOption
from c4env.openings import Openings, starts_of
from c4env.position import Position
from c4env.rules import CELLS, playable, winning_cells


def parse_player(self_play: bool, seat: Any) -> int:
    """Return the caller's player: 0, 1, ``RANDOM_SEAT``, or -1 in self-play."""
    if isinstance(seat, bool) or seat not in (0, 1, "random"):
        raise InvalidOption(f"seat={seat!r}: expected 0, 1 or 'random'")
    return -1 if self_play else RANDOM_SEAT if seat == "random" else int(seat)


def parse_positions(positions: Position | str | Sequence[Position | str]) -> list[Position]:
    """Return one or more positions or move strings as positions of unfinished games."""
    starts = [positions] if isinstance(positions, (Position, str)) else positions
    if not isinstance(starts, Sequence):
        raise InvalidOption(f"{positions!r}: expected positions or moves such as '4455'")
    if not starts:
        raise InvalidOption("no positions: expected at least one")
    found = []
    for start in starts:
        position = Position.parse(start) if isinstance(start, str) else start
        if not isinstance(position, Position):
            raise InvalidOption(f"{position!r}: expected a c4env.Position or moves such as '4455'")
        if position.outcome is not None:
            raise InvalidOption(f"cannot start from a finished game: {position!r}")
        found.append(position)
    return found


def parse_openings(openings: Openings | None, player: int) -> list[Position]:
    """Return the positions to start from; None means the empty board.

    Those that the opponent's first move could end are left out, with a warning.
    """
    positions = parse_positions("" if openings is None else starts_of(openings))
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
