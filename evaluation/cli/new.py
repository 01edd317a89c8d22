"""Write a short agent for you to change: c4 new agent FILE.py.

The agent can play without changes: `c4 check FILE.py:agent`, then `c4 run FILE.py:agent greedy`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from c4env.evaluation.cli.output import say

TEMPLATE: Final = '''"""An agent for Connect Four.

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


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", choices=("agent",), metavar="agent", help="what to write")
    parser.add_argument("file", type=Path, metavar="FILE.py", help="a new file")


def execute(arguments: argparse.Namespace) -> None:
    from c4env.errors import InvalidOption

    path = arguments.file
    if path.suffix != ".py":
        raise InvalidOption(f"{path}: expected a file name that ends with .py")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(TEMPLATE.format(file=path))
    except FileExistsError:
        raise InvalidOption(f"{path} already exists: expected the name of a new file") from None
    except OSError as error:
        raise InvalidOption(f"{path}: {error.strerror or error}") from None
    say(f"{path} written; try: c4 check {path}:agent; c4 run {path}:agent greedy --openings 1")
