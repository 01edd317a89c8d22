"""Write games for other tools, as CSV or JSON; the columns are the fields of ``games.jsonl``."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from c4env.errors import InvalidOption
from c4env.evaluation.store.files import write_file
from c4env.evaluation.tables import Table

from .record import GameRecord


def games_table(games: Sequence[GameRecord]) -> Table:
    """Return a table with a row for each game; a winner None means a draw."""
    rows = [game.values() for game in games]
    columns = dict.fromkeys(rows[0] if rows else (), "")
    return Table.of(columns, [[*row.values()] for row in rows])


def as_csv(games: Sequence[GameRecord]) -> str:
    """Return games as CSV with a heading and a line per game; an empty winner means a draw."""
    return games_table(games).csv() + "\n"


def as_json(games: Sequence[GameRecord]) -> str:
    """Return games as a JSON list of objects."""
    return json.dumps([game.values() for game in games], indent=1) + "\n"


WRITERS: Final[dict[str, Callable[[Sequence[GameRecord]], str]]] = {
    ".csv": as_csv,
    ".json": as_json,
}


def require_format(path: Path) -> None:
    """Check that the ending of a file name is a format in WRITERS.

    Raises:
        InvalidOption: the ending is not in WRITERS.
    """
    if path.suffix.lower() not in WRITERS:
        raise InvalidOption(f"{path}: expected a file name that ends in {', '.join(WRITERS)}")


def write_games(path: Path, games: Sequence[GameRecord]) -> None:
    """Write games to a file, in the format given by the ending of its name.

    Raises:
        InvalidOption: the ending is not in WRITERS.
        Unwritable: the file cannot be written.
    """
    require_format(path)
    write_file(path, WRITERS[path.suffix.lower()](games))
