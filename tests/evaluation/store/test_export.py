from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path

import pytest

from c4env.envs.single import ConnectFourEnv
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
    words = r"games\.txt: expected a file name that ends in \.csv, \.json, \.parquet"
    with pytest.raises(InvalidRun, match=words):
        export.write_games(tmp_path / "games.txt", GAMES)
    with pytest.raises(UnwritableRun, match="cannot be written"):
        export.write_games(tmp_path / "missing" / "games.csv", GAMES)


def test_a_frame_and_parquet_have_the_types(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas", reason="a frame needs pandas")
    frame = export.to_frame(GAMES)
    assert {name: str(kind) for name, kind in frame.dtypes.items()} == export.COLUMNS
    assert frame["winner"].fillna(-1).tolist() == [0, -1]
    assert frame["moves"].tolist() == ["4455667", "1"]
    assert list(export.to_frame([]).columns) == list(export.COLUMNS)
    pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    export.write_games(tmp_path / "games.parquet", GAMES)
    again = pandas.read_parquet(tmp_path / "games.parquet", dtype_backend="numpy_nullable")
    pandas.testing.assert_frame_equal(again, frame, check_dtype=False)
    assert str(again["winner"].dtype) == "Int64"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_minari_reads_each_players_moves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    minari = pytest.importorskip("minari")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    about = {"author": "a", "author_email": "a@b.c", "code_permalink": "x", "description": "d"}
    games = [
        GameRecord(("greedy", "random"), "44", "4416267616", 1, "four"),
        GameRecord(("random", "greedy"), "4", "45", 0, "crash", "its process ended"),
        GameRecord(("random", "greedy"), "4", "4", 1, "nonsense"),  # no move of either
    ]
    export.to_minari(games, "c4/zoo-v0", **about)
    data = minari.load_dataset("c4/zoo-v0")
    first, second, third = data.iterate_episodes()
    assert first.actions.tolist() == [0, 1, 6, 0]  # the opening is not the player's
    assert second.actions.tolist() == [5, 5, 5, 5]
    assert (first.rewards.tolist(), second.rewards.tolist()) == ([0, 0, 0, -1], [0, 0, 0, 1])
    assert (third.actions.tolist(), third.rewards.tolist()) == ([4], [-1])
    # Played again with these actions, the environment shows the same.
    env = ConnectFourEnv(lambda seen: answers.pop(0), seat=0)
    answers = second.actions.tolist()
    seen, info = env.reset(options={"moves": "44"})
    for k, action in enumerate(first.actions):
        assert seen.tolist() == first.observations[k].tolist()
        assert info["action_mask"].tolist() == first.infos["action_mask"][k].tolist()
        seen, reward, over, _, info = env.step(action)
        assert (reward, over) == (first.rewards[k], first.terminations[k])
    assert seen.tolist() == first.observations[-1].tolist()
    assert isinstance(data.recover_environment().unwrapped, ConnectFourEnv)
    only = export.to_minari(games, "c4/greedy-v0", ["greedy"], **about)
    assert only.total_episodes == 2
    assert only.storage.metadata["algorithm_name"] == "greedy"
    for name, said in (("c4/zoo-v0", "exists"), ("a b", "Malformed"), ("", "expected a name")):
        with pytest.raises(InvalidRun, match=said):
            export.to_minari(games, name, **about)
    with pytest.raises(InvalidRun, match="expected games with moves"):
        export.to_minari(games[2:], "c4/none-v0", **about)


def test_without_minari_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "minari", None)
    with pytest.raises(MissingExtra, match=r"c4env\[minari\]"):
        export.to_minari(GAMES, "c4/zoo-v0")


# -- as others open the file itself -------------------------------------------------------
