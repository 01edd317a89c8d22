"""Positions of random play, and files of labelled ones."""

import random
from collections.abc import Sequence

from c4env.agents.solver.exam import ScoredPosition
from c4env.bitboard import playable, winning_cells
from c4env.position import Position


def random_position(plies: int, rng: random.Random) -> Position:
    """A position of so many discs that is not over."""
    while True:
        position = Position()
        while position.plies < plies and position.outcome is None:
            position = position.play(rng.choice(position.legal_columns()))
        if position.outcome is None:
            return position


def random_positions(count: int, seed: int, fewest: int = 0, most: int = 37) -> list[Position]:
    """Positions of ``fewest`` to ``most`` discs that are not over."""
    rng = random.Random(seed)
    return [random_position(rng.randint(fewest, most), rng) for _ in range(count)]


def quiet(position: Position) -> bool:
    """Neither side could win with the next disc."""
    cells = playable(position.mine | position.theirs)
    return not cells & (winning_cells(position.mine) | winning_cells(position.theirs))


def format_labelled(positions: Sequence[ScoredPosition]) -> str:
    """Lines of ``moves score``, as labelled positions are read from a file."""
    return "".join(f"{p.moves} {p.score}\n" for p in positions)
