"""What a strong player sees on a board, as bitboards: labels to probe networks with."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from c4env import rules
from c4env.arrays import Bools, Int64s
from c4env.rules import BOARD, COLUMN_MASKS, ODD_ROWS

_winning_cells: Any = rules.winning_cells  # the sources of both also work on int64 arrays
_playable: Any = rules.playable


class Concepts(NamedTuple):
    """Threats and good moves in N positions, as bitboards int64 ``[N]`` (``c4env.bitboard``).

    A threat is an empty cell where a disc of a side completes four. Its row counts from 1 at the
    bottom. ``mine`` is the side to move.
    """

    playable: Int64s  #: the cells that the next disc can take
    keeping: Int64s  #: playable cells that keep the win or draw; in a lost position all of them
    mine_odd: Int64s  #: threats of the side to move in odd rows
    mine_even: Int64s  #: threats of the side to move in even rows
    mine_now: Int64s  #: threats of the side to move that it can play at once
    theirs_odd: Int64s  #: threats of the other side in odd rows
    theirs_even: Int64s  #: threats of the other side in even rows
    theirs_now: Int64s  #: threats of the other side that can be played at once


def concepts_of(mine: Int64s, theirs: Int64s, keeps: Bools) -> Concepts:
    """Return the concepts of N unfinished positions.

    Args:
        mine, theirs: bitboards int64 ``[N]`` of the side to move and of the other side.
        keeps: bool ``[N, 7]``, whether a column keeps the win or the draw.
    """
    playable = _playable(mine | theirs)
    keeping = playable & np.where(keeps, COLUMN_MASKS, 0).sum(axis=1)
    empty = BOARD & ~(mine | theirs)
    sides = [
        cells
        for threats in (_winning_cells(mine) & empty, _winning_cells(theirs) & empty)
        for cells in (threats & ODD_ROWS, threats & ~ODD_ROWS, threats & playable)
    ]
    return Concepts(playable, keeping, *sides)
