import json
import re
from dataclasses import fields, replace
from typing import get_args

import pytest

from c4env.agents.adapters.chat import Exchange
from c4env.evaluation.exact.dataset import Data
from c4env.evaluation.store.header import RunHeader, SprtPlan
from c4env.evaluation.store.run_files import Ending, GameRecord
from c4env.evaluation.store.transcripts import Spoken
from c4env.evaluation.studies.leaderboard import stored_board
from c4env.evaluation.studies.strength import Strength
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
    prompts={"a": "one"},
    movetime=1,
    margin=0.1,
    sprt=SprtPlan(0, 30.5, 0.05, 0.05),
)


def test_format_and_parse_are_inverse():
    for header in (HEADER, RunHeader(), replace(HEADER, kind="gauntlet", challengers=("a",))):
        assert RunHeader.parse(header.format()) == header
    sprt = json.loads(HEADER.format())["sprt"]
    assert sprt == {"h0": 0, "h1": 30.5, "alpha": 0.05, "beta": 0.05}


def test_damage_is_noticed():
    for before, after, words in (
        ('"format": "c4env run 1"', '"format": "c4env run 2"', "'c4env run 2': expected 'c4env ru"),
        ('"format": "c4env run 1",', "", "format"),
        ("}", "", "Expecting"),
    ):
        text = HEADER.format()
        assert before in text
        with pytest.raises((ValueError, KeyError), match=words):
            RunHeader.parse(text.replace(before, after))


def test_the_layouts_have_every_field_and_no_other():
    text = (ROOT / "docs" / "reference" / "records.md").read_text()
    _, games, run, *_ = re.split(r"^\| field .*$", text, flags=re.MULTILINE)
    row = GameRecord(("a", "b"), "", "4", 0, "time").values()
    for table, names in ((games, row), (run, json.loads(HEADER.format()))):
        rows = re.findall(r"^\|(.*?)\|", table.split("\n\n")[0], re.MULTILINE)
        found = re.findall(r"`(\w+)`", "".join(rows))
        assert {*found} == {*names}
    assert all(f"`{ending}`" in games for ending in get_args(Ending))
    for file, names in (
        (
            "transcripts.jsonl",
            {f.name for f in (*fields(Spoken), *fields(Exchange))} - {"exchange"},
        ),
        ("leaderboard.json", json.loads(stored_board().format())),
        ("strength.tsv", Strength._fields),
        (".parquet", [field.name for field in fields(Data)]),
    ):
        [row] = re.findall(rf"^\| .*{file}`.*", text, re.MULTILINE)
        assert all(f"`{name}" in row for name in names), (file, names)
