from __future__ import annotations

import json

import pytest

import evaluation
from evaluation.__main__ import main
from evaluation.errors import InvalidRun
from evaluation.report.comparison import compare


def run(players, **settings):
    result = evaluation.round_robin(players, openings=1, **settings)
    return {"players": list(result.players)}, result.games


def test_the_same_run_has_not_changed():
    found = json.loads(compare(*[run(["random", "greedy"])] * 2).json())
    assert [row["change"] for row in found["rows"]] == [0, 0]
    assert [(row["better"], row["worse"]) for row in found["rows"]] == [(0, 0), (0, 0)]
    assert found["notes"] == ["8 games in both runs; 0 went another way."]


def test_an_agent_that_became_stronger():
    before = run({"mine": "random", "greedy": "greedy", "random": "random"})
    after = run({"mine": "minimax:depth=3", "greedy": "greedy", "other": "random"})
    found = json.loads(compare(before, after).json())
    rows = {row["agent"]: row for row in found["rows"]}
    assert list(rows) == ["mine", "greedy"]
    assert rows["mine"]["change"] > 0 > rows["greedy"]["change"]
    assert rows["mine"]["better"] == rows["greedy"]["worse"] > 0
    assert found["notes"][1:] == ["Only before: random.", "Only after: other."]


def test_nothing_to_compare():
    with pytest.raises(InvalidRun, match="no agent is in both runs: random, greedy; a, b"):
        compare(run(["random", "greedy"]), run({"a": "random", "b": "greedy"}))


def test_the_command(tmp_path, capsys):
    for name in ("one", "two"):
        evaluation.round_robin(["random", "greedy"], openings=0, out=tmp_path / name)
    assert main(["compare", str(tmp_path / "one"), str(tmp_path / "two")]) == 0
    assert "2 games in both runs" in capsys.readouterr().out
