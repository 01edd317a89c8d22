from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from c4env import evaluation
from c4env.errors import MissingExtra
from c4env.evaluation.errors import InvalidRun, UnwritableRun
from c4env.evaluation.store import export
from c4env.evaluation.store.record import GameRecord

GAMES = [
    GameRecord(("a,b", "c"), "44", "4455667", 0, "four", "", (1, 2), (0.25, 0.5)),
    GameRecord(("c", "a,b"), "", "1", None, "abandoned", 'said "no"'),
]


def test_csv_and_json_hold_the_rows_of_the_record() -> None:
    lines = list(csv.DictReader(io.StringIO(export.as_csv(GAMES))))
    objects = json.loads(export.as_json(GAMES))
    assert objects == [game.values() for game in GAMES]
    for line, found in zip(lines, objects, strict=True):
        assert tuple(line) == tuple(found) == tuple(export.COLUMNS)
        assert line == {key: "" if value is None else str(value) for key, value in found.items()}


def test_the_files_ending_tells_the_format(tmp_path: Path) -> None:
    export.write_games(tmp_path / "games.csv", GAMES)
    assert (tmp_path / "games.csv").read_text() == export.as_csv(GAMES)
    export.write_games(tmp_path / "games.JSON", GAMES)
    assert len(json.loads((tmp_path / "games.JSON").read_text())) == 2
    words = r"games\.txt: expected a file name that ends in \.csv, \.json"
    with pytest.raises(InvalidRun, match=words):
        export.write_games(tmp_path / "games.txt", GAMES)
    with pytest.raises(UnwritableRun, match="cannot be written"):
        export.write_games(tmp_path / "missing" / "games.csv", GAMES)


def test_a_frame_has_the_types() -> None:
    pytest.importorskip("pandas", reason="a frame needs pandas")
    frame = export.to_frame(GAMES)
    assert {name: str(kind) for name, kind in frame.dtypes.items()} == export.COLUMNS
    assert frame["winner"].fillna(-1).tolist() == [0, -1]
    assert frame["moves"].tolist() == ["4455667", "1"]
    assert list(export.to_frame([]).columns) == list(export.COLUMNS)


def test_without_pandas_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtra, match=r"c4env\[frame\]"):
        export.to_frame(GAMES)


# -- as others open the file itself -------------------------------------------------------

TYPES = {
    "first": "text", "second": "text", "opening": "text", "moves": "text", "winner": "integer",
    "ending": "text", "reason": "text", "nodes_first": "integer", "nodes_second": "integer",
    "seconds_first": "float", "seconds_second": "float", "check": "text",
}  # fmt: skip


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Games of which some are drawn and have an opening, and of which none."""
    folder = tmp_path_factory.mktemp("kept")
    evaluation.round_robin(["greedy", "alphabeta:depth=2", "random"], 1, out=folder / "some")
    evaluation.round_robin(["greedy", "random"], 0, out=folder / "none")
    assert any(game.winner is None for game in evaluation.read_run(folder / "some").games)
    return folder


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("name", ["some", "none"])
def test_pandas_opens_the_games(kept: Path, name: str) -> None:
    pandas = pytest.importorskip("pandas")
    path = kept / name / "games.jsonl"
    texts = {"opening": str, "moves": str, "check": str}  # else numbers, as far as they look so
    frame = pandas.read_json(path, lines=True, dtype={**texts, "winner": "Int64"})
    is_kind = {
        "text": pandas.api.types.is_string_dtype,
        "integer": pandas.api.types.is_integer_dtype,
        "float": pandas.api.types.is_float_dtype,
    }
    assert list(frame.columns) == list(TYPES)
    assert all(is_kind[kind](frame[name]) for name, kind in TYPES.items())
    found = frame.astype(object).where(frame.notna(), None).to_dict("records")
    assert found == [pytest.approx(row) for row in rows_of(path)]


@pytest.mark.parametrize("name", ["some", "none"])
def test_polars_opens_the_games(kept: Path, name: str) -> None:
    polars = pytest.importorskip("polars", reason="it opens what polars reads")
    path = kept / name / "games.jsonl"
    frame = polars.read_ndjson(path)
    kinds = {"text": polars.String, "integer": polars.Int64, "float": polars.Float64}
    assert dict(frame.schema) == {name: kinds[kind] for name, kind in TYPES.items()}
    assert frame.to_dicts() == rows_of(path)


@pytest.mark.parametrize("name", ["some", "none"])
def test_duckdb_opens_the_games(kept: Path, name: str) -> None:
    duckdb = pytest.importorskip("duckdb", reason="it opens what DuckDB reads")
    path = kept / name / "games.jsonl"
    found = duckdb.read_json(str(path))
    kinds = {"text": "VARCHAR", "integer": "BIGINT", "float": "DOUBLE"}
    assert found.columns == list(TYPES)
    assert list(map(str, found.types)) == [kinds[kind] for kind in TYPES.values()]
    assert found.fetchall() == [tuple(row.values()) for row in rows_of(path)]
