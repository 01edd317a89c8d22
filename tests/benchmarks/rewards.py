"""How many rewards of exact play one core gives in a second, by the number of discs.

The positions follow random moves, and the rewarded move is random.
"""

import random
from collections import defaultdict
from typing import Final

from c4env import Position
from c4env.agents import rewards
from c4env.evaluation.tables import Table
from tests.benchmarks.harness import timed

POSITIONS: Final = 20_000
DISCS: Final = (range(12), *(range(n, n + 1) for n in range(12, 17)), range(17, 34))


def run(positions: int = POSITIONS) -> Table:
    """Time ``rewards.keeps`` on new positions, each range of discs in one call."""
    moves = moves_by_discs(positions)
    rewards.keeps(["44"], [3])  # loads the code
    rows = []
    for discs in DISCS:
        asked = [move for n in discs for move in moves[n]]
        boards, columns = zip(*asked, strict=True)
        seconds, _ = timed(lambda: rewards.keeps(boards, columns, threads=1))  # noqa: B023
        name = f"{discs[0]} to {discs[-1]}" if len(discs) > 1 else str(discs[0])
        rows.append((name, len(asked), seconds, len(asked) / seconds))
    count, seconds = sum(row[1] for row in rows), sum(row[2] for row in rows)
    columns_ = {"discs": "", "moves": ",", "seconds": ".2f", "per second": ",.0f"}
    return Table.of(columns_, [*rows, ("all", count, seconds, count / seconds)])


def moves_by_discs(games: int, seed: int = 0) -> dict[int, list[tuple[Position, int]]]:
    """Return a position and a legal column of each game that lasts 0 to 33 random moves."""
    generator, found = random.Random(seed), defaultdict[int, list[tuple[Position, int]]](list)
    for _ in range(games):
        position, discs = Position(), generator.randrange(DISCS[-1][-1] + 1)
        while position.outcome is None and position.plies < discs:
            position = position.play(generator.choice(position.legal_columns()))
        if position.outcome is None:
            column = generator.choice(position.legal_columns())
            found[discs].append((position, column))
    return found
