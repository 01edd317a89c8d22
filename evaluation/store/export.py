"""Export games for other tools: as CSV, JSON, or a pandas data frame.

The columns are the fields of ``games.jsonl``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from c4env.errors import InvalidOption
from c4env.evaluation.store.files import write_file
from c4env.evaluation.tables import Table
from c4env.lazy import from_extra

from .record import GameRecord

if TYPE_CHECKING:
    import pandas as pd

COLUMNS: Final = {
    "first": "string", "second": "string", "opening": "string", "moves": "string",
    "winner": "Int64", "ending": "string", "reason": "string",
    "nodes_first": "int64", "nodes_second": "int64",
    "seconds_first": "float64", "seconds_second": "float64",
}  # fmt: skip
"""The pandas type of each column; ``winner`` has a missing value for a draw."""


def as_csv(games: Iterable[GameRecord]) -> str:
    """Return games as CSV with a heading and a line per game; an empty winner means a draw."""
    rows = [[*game.values().values()] for game in games]
    return Table.of(dict.fromkeys(COLUMNS, ""), rows).csv() + "\n"


def as_json(games: Iterable[GameRecord]) -> str:
    """Return games as a JSON list of objects."""
    return json.dumps([game.values() for game in games], indent=1) + "\n"


WRITERS: Final[dict[str, Callable[[Iterable[GameRecord]], str]]] = {
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


def write_games(path: Path, games: Iterable[GameRecord]) -> None:
    """Write games to a file, in the format given by the ending of its name.

    Raises:
        InvalidOption: the ending is not in WRITERS.
        Unwritable: the file cannot be written.
    """
    require_format(path)
    write_file(path, WRITERS[path.suffix.lower()](games))


def to_frame(games: Iterable[GameRecord]) -> pd.DataFrame:
    """Return games as a pandas data frame with the columns :data:`COLUMNS`.

    Raises:
        MissingExtra: pandas is not installed.
    """
    with from_extra("frame", "a frame needs pandas"):
        import pandas as pd
    rows: list[dict[str, Any]] = [game.values() for game in games]
    return pd.DataFrame(rows, columns=[*COLUMNS]).astype(COLUMNS)
