"""Games as tables for other tools: CSV, JSON, and a pandas frame."""

from __future__ import annotations

__any_board__ = True

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from c4env.evaluation import tables
from c4env.evaluation.errors import InvalidRun
from c4env.evaluation.store.files import write_file
from c4env.evaluation.store.record import GameRecord
from c4env.lazy import from_extra

if TYPE_CHECKING:
    import pandas as pd

COLUMNS: Final = (
    "game", "first", "second", "opening", "moves", "plies", "winner", "first_points", "ending",
    "reason", "first_nodes", "second_nodes", "first_seconds", "second_seconds",
)  # fmt: skip
"""One row a game: its number from 1, the agents, 1-based columns, discs on the board at the end,
the winner's name (none in a draw), the first player's points, and what choosing cost."""


def rows(games: Iterable[GameRecord]) -> list[list[Any]]:
    """Of each game the cells of :data:`COLUMNS`."""
    return [
        [
            *(number, *game.players, game.opening, game.moves, len(game.moves)),
            None if game.winner is None else game.players[game.winner],
            *(game.points[0], game.ending, game.reason, *game.nodes, *game.seconds),
        ]
        for number, game in enumerate(games, start=1)
    ]


def as_csv(games: Iterable[GameRecord]) -> str:
    """A heading and one line a game; an empty winner is a draw."""
    return tables.as_csv([COLUMNS, *rows(games)]) + "\n"


def as_json(games: Iterable[GameRecord]) -> str:
    """A list of objects."""
    found = [dict(zip(COLUMNS, row, strict=True)) for row in rows(games)]
    return json.dumps(found, indent=1) + "\n"


WRITERS: Final = {".csv": as_csv, ".json": as_json}


def require_format(path: Path) -> None:
    """Refuse a file whose ending names no format.

    Raises:
        InvalidRun: it does not.
    """
    if path.suffix.lower() not in WRITERS:
        raise InvalidRun(f"{path}: expected a file name that ends in {' or '.join(WRITERS)}")


def write_games(path: Path, games: Iterable[GameRecord]) -> None:
    """Write the games in the format of the file's ending.

    Raises:
        InvalidRun: another ending.
        UnwritableRun: the file cannot be written.
    """
    require_format(path)
    write_file(path, WRITERS[path.suffix.lower()](games))


def to_frame(games: Iterable[GameRecord]) -> pd.DataFrame:
    """The games as a pandas frame with the columns :data:`COLUMNS`.

    Raises:
        MissingExtra: pandas is not installed.
    """
    with from_extra("frame", "a frame needs pandas"):
        import pandas as pd
    return pd.DataFrame(rows(games), columns=list(COLUMNS))
