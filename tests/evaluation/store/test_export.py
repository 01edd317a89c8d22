from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path

import pytest

from c4env.errors import MissingExtra
from c4env.evaluation.errors import InvalidRun, UnwritableRun
from c4env.evaluation.store import export
from c4env.evaluation.store.record import GameRecord

GAMES = [
    GameRecord(("a,b", "c"), "44", "4455667", 0, "four", "", (1, 2), (0.25, 0.5)),
    GameRecord(("c", "a,b"), "", "1", None, "abandoned", 'said "no"'),
]


def test_csv_and_json_hold_the_same() -> None:
    lines = list(csv.DictReader(io.StringIO(export.as_csv(GAMES))))
    objects = json.loads(export.as_json(GAMES))
    assert len(lines) == len(objects) == 2
    for line, found in zip(lines, objects, strict=True):
        assert tuple(line) == tuple(found) == export.COLUMNS
        assert line == {key: "" if value is None else str(value) for key, value in found.items()}
    assert objects[0]["winner"] == "a,b"
    assert (objects[0]["plies"], objects[0]["first_points"]) == (7, 1.0)
    assert (objects[1]["winner"], objects[1]["first_points"]) == (None, 0.5)


def test_the_files_ending_tells_the_format(tmp_path: Path) -> None:
    export.write_games(tmp_path / "games.csv", GAMES)
    assert (tmp_path / "games.csv").read_text() == export.as_csv(GAMES)
    export.write_games(tmp_path / "games.JSON", GAMES)
    assert len(json.loads((tmp_path / "games.JSON").read_text())) == 2
    with pytest.raises(InvalidRun, match=r"games\.txt: expected a file name that ends in \.csv or"):
        export.write_games(tmp_path / "games.txt", GAMES)
    with pytest.raises(UnwritableRun, match="cannot be written"):
        export.write_games(tmp_path / "missing" / "games.csv", GAMES)


def test_a_frame_has_a_row_a_game() -> None:
    pytest.importorskip("pandas", reason="a frame needs pandas")
    frame = export.to_frame(GAMES)
    assert list(frame.columns) == list(export.COLUMNS)
    assert frame["first_points"].tolist() == [1.0, 0.5]
    assert frame["plies"].sum() == 8


def test_without_pandas_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtra, match=r"c4env\[frame\]"):
        export.to_frame(GAMES)
