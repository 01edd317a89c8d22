"""Runs, reports and answers for other boards than 6x7."""

import json

import pytest

import c4env
from c4env import evaluation
from c4env.errors import UnreadableRun
from c4env.evaluation.__main__ import main

RUN = ["random", "greedy", "--openings", "1", "--quiet", "--jobs", "1"]


def test_a_run_is_kept_and_shown_with_its_board(tmp_path, capsys):
    out = str(tmp_path / "run")
    assert main(["run", *RUN, "--board", "4x4x4", "--out", out]) == 0
    played = capsys.readouterr().out
    assert "The board has 4 rows and 4 columns; 4 in a row win." in played
    assert json.loads((tmp_path / "run" / "run.json").read_text())["board"] == "4x4x4"
    games = map(json.loads, (tmp_path / "run" / "games.jsonl").read_text().splitlines())
    assert set("".join(game["moves"] for game in games)) == set("1234")
    assert main(["report", out, "--board", "4x4x4"]) == 0
    assert played.splitlines()[-2] in capsys.readouterr().out  # the digest
    for again in (["report", out], ["run", *RUN, "--out", out]):
        assert main(again) == 2
        told = capsys.readouterr().err
        assert told.count("\n") == 1
        assert "has games on a board of 4x4x4, not 6x7x4" in told
    with pytest.raises(UnreadableRun, match="4x4x4"):
        evaluation.round_robin(["random", "greedy"], openings=1, out=out)


@pytest.mark.slow
def test_workers_play_on_the_board():
    here, there = (
        c4env.board(4, 4).evaluation.round_robin(["random", "greedy"], openings=1, jobs=jobs)
        for jobs in (1, 2)
    )
    assert here.digest == there.digest
    assert {game.forfeited_by for game in here.games} == {None}
