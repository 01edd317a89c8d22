import csv
import io
import json

import pytest

from c4env.errors import InvalidOption, Unwritable
from c4env.evaluation.store import run_files as export
from c4env.evaluation.store.run_files import GameRecord

GAMES = [
    GameRecord(("a,b", "c"), "44", "4455667", 0, "four", "", (1, 2), (0.25, 0.5)),
    GameRecord(("c", "a,b"), "", "1", None, "abandoned", 'said "no"'),
]


def test_csv_and_json_hold_the_rows_of_the_record():
    lines = list(csv.DictReader(io.StringIO(export.WRITERS[".csv"](GAMES))))
    objects = json.loads(export.WRITERS[".json"](GAMES))
    assert objects == [game.values() for game in GAMES]
    for line, found in zip(lines, objects, strict=True):
        assert tuple(line) == tuple(found)
        assert line == {key: "" if value is None else str(value) for key, value in found.items()}


def test_the_files_ending_tells_the_format(tmp_path):
    export.write_games(tmp_path / "games.csv", GAMES)
    assert (tmp_path / "games.csv").read_text() == export.WRITERS[".csv"](GAMES)
    export.write_games(tmp_path / "games.JSON", GAMES)
    assert len(json.loads((tmp_path / "games.JSON").read_text())) == 2
    words = r"games\.txt: expected a file name that ends in \.csv, \.json"
    with pytest.raises(InvalidOption, match=words):
        export.write_games(tmp_path / "games.txt", GAMES)
    with pytest.raises(Unwritable, match="cannot be written"):
        export.write_games(tmp_path / "missing" / "games.csv", GAMES)
