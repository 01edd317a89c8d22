"""Write a short agent or heuristic for you to change: c4 new agent FILE.py.

Both work without changes; the first lines of the file show how to play them.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from c4env.evaluation.cli.output import say

AGENT: Final = '''"""An agent for Connect Four.

    c4 check {file}:agent
    c4 run {file}:agent greedy --openings 1
"""

from c4env import Position, position_from


def agent(observation):
    """A column, 0 to 6, for the side to move.

    observation["observation"] is an int8 array [6, 7, 2]: row from the top, column, plane. Plane 0
    has the discs of the side to move, plane 1 those of the other side.
    observation["action_mask"] is an int8 array [7], 1 for each column that has room.
    """
    position = position_from(observation)
    for column in position.legal_columns():
        if wins(position, column):
            return column
    # Your idea goes here. This agent prefers the centre.
    return min(position.legal_columns(), key=lambda column: abs(column - 3))


def wins(position: Position, column: int) -> bool:
    """Whether a disc in this column wins."""
    outcome = position.play(column).outcome
    return outcome is not None and outcome.winner is not None
'''

HEURISTIC: Final = '''"""A heuristic for Connect Four: the value of a position without search.

    c4 quality --heuristics {file}:heuristic lines --on end-easy
    c4 run alphabeta:depth=2,heuristic={file}:heuristic alphabeta:depth=2 --openings 0
"""

import numba

from c4env.bitboard import CENTRE, popcount


def heuristic(mine, theirs):
    """A float between -1,000,000 and 1,000,000 for the side whose discs are `mine`.

    Both are integers: bit 7 * column + height is a cell, height 0 to 5 from the bottom.
    """
    # Your idea goes here. This heuristic counts discs in the centre column.
    return centre(mine) - centre(theirs)


@numba.njit  # Numba compiles the heuristic, and so needs this line on the functions that it calls
def centre(discs):
    return float(popcount(discs & CENTRE))
'''

TEMPLATES: Final = {  # the text, and what to try first
    "agent": (AGENT, "c4 check {file}:agent; c4 run {file}:agent greedy --openings 1"),
    "heuristic": (HEURISTIC, "c4 quality --heuristics {file}:heuristic lines --on end-easy"),
}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", choices=TEMPLATES, metavar="KIND", help="agent or heuristic")
    parser.add_argument("file", type=Path, metavar="FILE.py", help="a new file")


def execute(arguments: argparse.Namespace) -> None:
    from c4env.errors import InvalidOption

    path = arguments.file
    template, command = TEMPLATES[arguments.kind]
    if path.suffix != ".py":
        raise InvalidOption(f"{path}: expected a file name that ends with .py")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(template.format(file=path))
    except FileExistsError:
        raise InvalidOption(f"{path} already exists: expected the name of a new file") from None
    say(f"{path} written; try: {command.format(file=path)}")
