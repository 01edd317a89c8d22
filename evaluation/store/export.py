"""Export games for other tools: as CSV, JSON, Parquet, a pandas data frame or a Minari data set.

The columns are the fields of ``games.jsonl``, without the checksum.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from c4env.envs.registration import SINGLE_ID
from c4env.evaluation import tables
from c4env.evaluation.errors import InvalidRun
from c4env.evaluation.store.files import write_file
from c4env.lazy import from_extra

from ... import geometry as board
from ...observation import Form, observe
from ...position import Position, parse_moves
from .record import GameRecord

if TYPE_CHECKING:
    import minari
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
    return tables.as_csv([[*COLUMNS], *([*game.values().values()] for game in games)]) + "\n"


def as_json(games: Iterable[GameRecord]) -> str:
    """Return games as a JSON list of objects."""
    return json.dumps([game.values() for game in games], indent=1) + "\n"


def as_parquet(games: Iterable[GameRecord]) -> bytes:
    """Return games as the bytes of a Parquet file.

    Raises:
        MissingExtra: pyarrow is not installed.
    """
    with from_extra("parquet", "a .parquet file needs pyarrow"):
        import pyarrow as pa
        import pyarrow.parquet
    types = {"Int64": "int64"}
    schema = pa.schema([(name, types.get(kind, kind)) for name, kind in COLUMNS.items()])
    buffer = io.BytesIO()
    rows = [game.values() for game in games]
    pyarrow.parquet.write_table(pa.Table.from_pylist(rows, schema), buffer)
    return buffer.getvalue()


WRITERS: Final[dict[str, Callable[[Iterable[GameRecord]], str | bytes]]] = {
    ".csv": as_csv,
    ".json": as_json,
    ".parquet": as_parquet,
}


def require_format(path: Path) -> None:
    """Check that the ending of a file name is a format in WRITERS.

    Raises:
        InvalidRun: the ending is not in WRITERS.
        MissingExtra: the format's library is not installed.
    """
    if path.suffix.lower() not in WRITERS:
        raise InvalidRun(f"{path}: expected a file name that ends in {', '.join(WRITERS)}")
    WRITERS[path.suffix.lower()](())


def write_games(path: Path, games: Iterable[GameRecord]) -> None:
    """Write games to a file, in the format given by the ending of its name.

    Raises:
        InvalidRun: the ending is not in WRITERS.
        MissingExtra: the format's library is not installed.
        UnwritableRun: the file cannot be written.
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


def to_minari(
    games: Sequence[GameRecord],
    dataset_id: str,
    players: Collection[str] | None = None,
    **described: Any,
) -> minari.MinariDataset:
    """Write games as a Minari data set, for offline reinforcement learning.

    An episode has the moves of one player in one game, with the observations of ``ConnectFourEnv``:
    one before each move, and one at the end. Moves of the opening are not part of an episode. A
    forfeit ends an episode after the last move played. ``infos`` has the ``action_mask``.

    Args:
        games: the games.
        dataset_id: the name, such as ``"connect-four/zoo-v0"``; ``minari.load_dataset`` takes it.
        players: names of the players whose moves become episodes; None means all players.
        described: metadata for ``minari.create_dataset_from_buffers``, such as ``author``,
            ``author_email``, ``code_permalink`` and ``description``. Minari warns if these are
            missing.

    Raises:
        InvalidRun: ``games`` has no moves, or ``dataset_id`` is malformed or already in use.
        MissingExtra: minari is not installed.
    """
    with from_extra("minari", "a Minari data set needs minari and pyarrow"):
        import minari
        import minari.data_collector
        import pyarrow as pa  # noqa: F401  # what minari writes with
    import gymnasium

    episodes = []
    for game in games:
        columns, line = parse_moves(game.moves), [Position()]
        for column in columns:
            line.append(line[-1].play(column))
        for seat in (0, 1):
            turns = [k for k in range(len(game.opening), len(columns)) if k % 2 == seat]
            if not turns or (players is not None and game.players[seat] not in players):
                continue
            seen = [observe(line[k], seat) for k in [*turns, -1]]
            result = 2 * game.points[seat] - 1
            episodes.append(
                minari.data_collector.EpisodeBuffer(
                    observations=list(Form("flat")(np.stack([s["observation"] for s in seen]))),
                    actions=[columns[k] for k in turns],
                    rewards=[0.0] * (len(turns) - 1) + [result],
                    terminations=[False] * (len(turns) - 1) + [True],
                    truncations=[False] * len(turns),
                    infos={"action_mask": np.stack([s["action_mask"] for s in seen])},
                )
            )
    if not episodes:
        raise InvalidRun(f"data set {dataset_id!r}: expected games with moves by these players")
    if not isinstance(dataset_id, str) or not dataset_id:
        raise InvalidRun(f"data set {dataset_id!r}: expected a name such as connect-four/zoo-v0")
    names = {name for game in games for name in game.players if players is None or name in players}
    env = gymnasium.make(SINGLE_ID, rows=board.ROWS, columns=board.COLUMNS, connect=board.CONNECT)
    facts = {"algorithm_name": ", ".join(sorted(names)), "eval_env": env} | described
    try:
        return minari.create_dataset_from_buffers(
            dataset_id, episodes, env=env, data_format="arrow", **facts
        )
    except ValueError as error:
        raise InvalidRun(f"data set {dataset_id!r}: {error}") from None
