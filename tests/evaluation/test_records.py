"""What a run directory holds: its header, its games and their export, and lines of any kind."""

import csv
import io
import json
import re
from dataclasses import asdict, fields, replace
from typing import get_args

import pytest

from c4env.errors import InvalidOption, UnreadableRun, Unwritable
from c4env.evaluation.exact.data import Data
from c4env.evaluation.records.game import Ending, GameRecord, digest, write_games
from c4env.evaluation.records.header import RunHeader, SprtPlan
from c4env.evaluation.records.jsonl import Lines, Memo, read_lines
from c4env.evaluation.records.run_folder import open_games, read_folder
from c4env.evaluation.results.leaderboard import stored_board
from c4env.evaluation.results.training_curve import Strength
from tests.helpers.paths import ROOT

HEADER = RunHeader(
    kind="match",
    players={"a": "greedy", "ä\ud800": "<ä>"},
    openings=("", "44"),
    seed=3,
    c4env="0.1.0",
    deterministic=("a",),
    timed=("ä\ud800",),
    code={"a": {"own.py": "1"}},
    movetime=1,
    margin=0.1,
    sprt=SprtPlan(0, 30.5, 0.05, 0.05),
)


def test_format_and_parse_are_inverse():
    for header in (HEADER, RunHeader(), replace(HEADER, kind="gauntlet", challengers=("a",))):
        assert RunHeader.parse(header.format()) == header
    sprt = json.loads(HEADER.format())["sprt"]
    assert sprt == {"h0": 0, "h1": 30.5, "alpha": 0.05, "beta": 0.05}


@pytest.mark.parametrize("after", ['"format": "c4env run 1"', '"former": "c4env run 2"', "{"])
def test_damage_is_noticed(after):
    before = '"format": "c4env run 2"'
    assert before in HEADER.format()
    with pytest.raises((ValueError, KeyError), match=r"c4env run 1|format|Expecting"):
        RunHeader.parse(HEADER.format().replace(before, after))


def test_the_layouts_have_every_field_and_no_other():
    text = (ROOT / "docs" / "reference" / "records.md").read_text()
    _, games, run, *_ = re.split(r"^\| field .*$", text, flags=re.MULTILINE)
    row = GameRecord(("a", "b"), "", "4", 0, "time", host="vm").values()
    for table, names in ((games, row), (run, json.loads(HEADER.format()))):
        rows = re.findall(r"^\|(.*?)\|", table.split("\n\n")[0], re.MULTILINE)
        matches = re.findall(r"`(\w+)`", "".join(rows))
        assert {*matches} == {*names}
    assert all(f"`{ending}`" in games for ending in get_args(Ending))
    for file, names in (
        ("leaderboard.json", {"format", *asdict(stored_board())}),
        ("strength.jsonl", Strength._fields),
        (".parquet", [field.name for field in fields(Data)]),
    ):
        [row] = re.findall(rf"^\| .*{file}`.*", text, re.MULTILINE)
        assert all(f"`{name}" in row for name in names), (file, names)


WON = GameRecord(("a", "b"), "12", "1212121", 0, "four", "", (5, 7), (0.25, 0.5))
LEFT = GameRecord(("b", "a"), "", "44", 1, "exception", "ValueError: it broke\nbadly")


def test_values_and_parse_are_inverse():
    for game in (WON, LEFT):
        assert GameRecord.parse(json.loads(json.dumps(game.values()))) == game


def test_a_game_of_before_asked_nobody_again():
    asked = replace(WON, asked_again=(2, 0))
    before = {key: value for key, value in asked.values().items() if "asked_again" not in key}
    assert GameRecord.parse(before) == WON
    assert GameRecord.parse(asked.values()) == asked


def test_what_is_not_a_game_is_refused():
    for values in (
        "",
        None,
        replace(WON, winner=1).values(),
        replace(WON, moves="121212").values(),
        {key: value for key, value in WON.values().items() if key != "second"},
        replace(WON, ending="exception").values(),
        replace(LEFT, winner=None).values(),
    ):
        with pytest.raises(UnreadableRun):
            GameRecord.parse(values)


def test_digest_is_of_the_games_not_of_their_order_or_time():
    slower = replace(WON, seconds=(9.0, 9.0))
    assert digest([WON, LEFT]) == digest([LEFT, slower])
    assert digest([WON, LEFT]) != digest([WON])
    assert len(digest([WON])) == 16
    assert digest([WON]) != digest([replace(WON, nodes=(5, 8))])


PLANNED = RunHeader(players={"a": "a", "b": "b"}, openings=("12", ""))
OTHER = replace(WON, players=("c", "b"))


@pytest.mark.parametrize("games", [[WON, LEFT, WON], [LEFT, OTHER], [replace(WON, opening="1")]])
def test_reports_and_runs_refuse_the_same_games(tmp_path, games):
    """One twice, of players or openings that the run does not have: both read alike."""
    with open_games(tmp_path, PLANNED) as file:
        for game in games:
            file.append(game.values())
    words = f"line {len(games)}.*of another run, or occurs twice"
    with pytest.raises(UnreadableRun, match=words):
        read_folder(tmp_path)
    with pytest.raises(UnreadableRun, match=words):
        open_games(tmp_path, PLANNED)


GAMES = [
    GameRecord(("a,b", "c"), "44", "4455667", 0, "four", "", (1, 2), (0.25, 0.5)),
    GameRecord(("c", "a,b"), "", "1", None, "abandoned", 'said "no"'),
]


def test_csv_and_json_hold_the_rows_of_the_record(tmp_path):
    write_games(tmp_path / "games.csv", GAMES)
    write_games(tmp_path / "games.JSON", GAMES)
    objects = json.loads((tmp_path / "games.JSON").read_text())
    assert objects == [game.values() for game in GAMES]
    lines = csv.DictReader(io.StringIO((tmp_path / "games.csv").read_text()))
    for line, result in zip(lines, objects, strict=True):
        assert line == {key: "" if value is None else str(value) for key, value in result.items()}
    with pytest.raises(InvalidOption, match=r"games\.txt: .*\.csv, \.json"):
        write_games(tmp_path / "games.txt", GAMES)
    with pytest.raises(Unwritable):
        write_games(tmp_path / "missing" / "games.csv", GAMES)


def number(value):
    (one,) = value
    if not isinstance(one, int):
        raise TypeError("no number")
    return one


def opened(path):
    return Lines(path, number)


def written(path, values):
    with opened(path) as lines:
        for value in values:
            lines.append([value])


@pytest.mark.parametrize("torn", [1, 8, 9, 11])
def test_a_line_torn_off_by_a_kill_is_dropped(tmp_path, torn):
    path = tmp_path / "new" / "numbers.jsonl"
    written(path, [3, 12345])
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) - torn])
    kept = [3] if torn < 9 else []
    assert read_lines(path, number) == kept
    with opened(path) as lines:
        assert lines.entries == kept
        lines.append([5])
    with opened(path) as lines:
        assert lines.entries == [*kept, 5]


@pytest.mark.parametrize(
    ("text", "line"),
    [('[1]\n["two"]\n[1]\n', 2), ('[1]\n[2"]\n[1]\n', 2), ("[1][1]\n", 1), ("notes of mine", 1)],
)
def test_something_else_is_refused_and_left_alone(tmp_path, text, line):
    path = tmp_path / "numbers.jsonl"
    path.write_text(text)
    with pytest.raises(UnreadableRun, match=f"line {line}: "):
        opened(path)
    assert path.read_text() == text


def test_a_second_writer_is_refused(tmp_path):
    path = tmp_path / "numbers.jsonl"
    with opened(path), pytest.raises(Unwritable, match="another process"):
        opened(path)
    opened(path).close()
    assert list(tmp_path.iterdir()) == [path]  # no lock file stays


@pytest.mark.parametrize("text", ["a\u2028b\x85c\x0bd", "half \ud800 a pair", "\udcff", 'é\n"\\'])
def test_any_text_is_kept_as_it_is(tmp_path, text):
    path = tmp_path / "texts.jsonl"
    with Lines(path) as lines:
        lines.append([text])
    with Lines(path) as lines:
        assert lines.entries == [[text]]
    assert ("é" in path.read_text("utf-8")) == ("é" in text)  # people can read it


def test_a_disk_that_fills_is_an_error_and_loses_no_line(tmp_path):
    path = tmp_path / "numbers.jsonl"
    written(path, [3])
    resource = pytest.importorskip("resource")  # not on Windows
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with opened(path) as lines:
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 4, hard))
        try:
            with pytest.raises(Unwritable, match=r"numbers\.jsonl"):
                lines.append([1234567])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        lines.append([4])
    assert read_lines(path, number) == [3, 4]


@pytest.mark.parametrize("kept", [True, False])
def test_a_memo_asks_once(tmp_path, kept):
    path = tmp_path / "found.jsonl" if kept else None
    asked = []

    def ask():
        asked.append(len(asked))
        return asked[-1]

    for _ in range(2):
        with Memo(path) as memo:
            assert memo.find(("a", 1), ask) == memo.find(("a", 1), ask)
    assert len(asked) == (1 if kept else 2)
    if kept:
        assert json.loads(path.read_text()) == ["a", 1, 0]


@pytest.mark.parametrize(
    "line", ['{"format":"c4env scores 1"}', '[{"seed":0},["<i8",[2,1],"eJw="]]', "[[1],2]"]
)
def test_a_memo_of_an_older_version_is_refused(tmp_path, line):
    path = tmp_path / "scores.jsonl"
    path.write_text(f"{line}\n[1,2,[0]]\n")
    with pytest.raises(UnreadableRun, match=r"line 1: .*; delete a file of an older version"):
        Memo(path)
