"""How many positions of each ply are won, drawn and lost under best play.

Counted are all positions that games reach, mirror images apart, and also those in which a game
just ended. The same counts are published for the strong solution of the game (M. Böck, "Connect-4
Strong Solver", arXiv 2507.05267), so that a book is held against every position of its plies.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from c4env.agents.solver.book import DEFAULT_PLIES, default_book, enumeration
from c4env.agents.solver.book.twelve import PLIES
from c4env.arrays import Int64s
from c4env.bitboard import mirror_all
from c4env.errors import InvalidOption
from tests.makers.book import by_twelve_ply_book

_BLOCK: Final = 1 << 16  # positions scored in one go


class Census(NamedTuple):
    """Positions of one ply, by what the first player gets under best play."""

    ply: int
    won: int
    drawn: int
    lost: int
    over: int  # of them, with four on the board: won where the first player moved last


def count_mirrors(keys: Int64s) -> Int64s:
    """How many positions each key stands for: 1 where the position is its own mirror image."""
    return np.where(mirror_all(keys) == keys, 1, 2)


def census(plies: int = DEFAULT_PLIES) -> list[Census]:
    """Counts of the positions of 0, 1, ... ``plies`` discs.

    Up to 8 plies they come from the book that ships, beyond it all from the 12-ply book
    of ``bitbully-databases``.

    Raises:
        BookUnavailable: that package is not installed.
        InvalidOption: ``plies`` is not 0..12.
    """
    if not 0 <= plies <= PLIES:
        raise InvalidOption(f"plies={plies!r}: expected 0..{PLIES}")
    if plies <= DEFAULT_PLIES:
        keys = enumeration.layers(DEFAULT_PLIES)
        last = default_book().scores
    else:
        score = by_twelve_ply_book()
        keys = enumeration.layers(PLIES)
        blocks = (keys[-1][i : i + _BLOCK] for i in range(0, len(keys[-1]), _BLOCK))
        last = np.concatenate([score(*enumeration.bitboards(block)) for block in blocks])
    scores = enumeration.backed_up(keys, last)
    found = []
    for ply in range(plies + 1):
        counts = count_mirrors(keys[ply])
        for_first = np.sign(scores[ply]) * (1 if ply % 2 == 0 else -1)
        won, drawn, lost = (int(counts[for_first == sign].sum()) for sign in (1, 0, -1))
        over = int(count_mirrors(enumeration.one_disc_on(keys[ply - 1], True)).sum()) if ply else 0
        if ply % 2:
            won += over
        else:
            lost += over
        found.append(Census(ply, won, drawn, lost, over))
    return found
