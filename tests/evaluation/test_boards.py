"""Runs, reports and answers for other boards than 6x7."""

import json

import pytest

import c4env
from tests.helpers.commands import refusal

RUN = ["random", "greedy", "--openings", "1", "--quiet", "--jobs", "1"]


def test_a_run_is_kept_and_shown_with_its_board(tmp_path, c4, capsys):
    out = str(tmp_path / "run")
    played = c4("run", *RUN, "--board", "4x4x4", "--out", out)
    assert "The board has 4 rows and 4 columns; 4 in a row win." in played
    assert json.loads((tmp_path / "run" / "run.json").read_text())["board"] == "4x4x4"
    games = map(json.loads, (tmp_path / "run" / "games.jsonl").read_text().splitlines())
    assert set("".join(game["moves"] for game in games)) == set("1234")
    assert played.splitlines()[-2].split("digest ")[1] in c4(
        "report", out, "--board", "4x4x4"
    )  # the digest
    for again in (["report", out], ["run", *RUN, "--out", out]):
        assert "has games on a board of 4x4x4, not 6x7x4" in refusal(again, capsys)


@pytest.mark.slow
def test_workers_play_on_the_board():
    here, there = (
        c4env.board(4, 4).evaluation.round_robin(["random", "greedy"], openings=1, jobs=jobs)
        for jobs in (1, 2)
    )
    assert here.digest == there.digest
    assert {game.forfeited_by for game in here.games} == {None}
