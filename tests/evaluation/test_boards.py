"""Runs, reports and answers for other boards than 6x7."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import c4env
from c4env import evaluation
from c4env.errors import WrongBoard
from c4env.evaluation.__main__ import main
from c4env.evaluation.errors import UnreadableRun
from c4env.jit import config

RUN = ["random", "greedy", "--openings", "1", "--quiet", "--jobs", "1"]


def board_of(folder: Path) -> Any:
    return json.loads((folder / "run.json").read_text())["board"]


def test_a_run_is_kept_and_shown_with_its_board(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "run")
    assert main(["run", *RUN, "--board", "4x4x4", "--out", out]) == 0
    played = capsys.readouterr().out
    assert "The board has 4 rows and 4 columns; 4 in a row win." in played
    assert board_of(tmp_path / "run") == "4x4x4"
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


def test_games_of_the_usual_board_are_none_of_another(tmp_path: Path) -> None:
    assert main(["run", *RUN, "--board", "6x7x4", "--limit", "1", "--out", str(tmp_path)]) == 0
    assert board_of(tmp_path) == "6x7x4"
    assert main(["report", str(tmp_path), "--board", "4x4x4"]) == 2


@pytest.mark.slow
def test_workers_play_on_the_board() -> None:
    here, there = (
        c4env.board(4, 4).evaluation.round_robin(["random", "greedy"], openings=1, jobs=jobs)
        for jobs in (1, 2)
    )
    assert here.digest == there.digest
    assert {game.forfeited_by for game in here.games} == {None}


@pytest.mark.slow
def test_the_other_commands_know_the_board(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    board = ["--board", "4x4x4"]
    assert main(["solve", "1122", *board]) == 0
    assert "red x to move draws (0)" in capsys.readouterr().out
    assert main(["list", *board]) == 0
    assert "rust-port" not in capsys.readouterr().out
    assert main(["play", "greedy", "random", "--record", str(tmp_path), *board]) == 0
    assert "1  2  3  4\n" in capsys.readouterr().out
    assert board_of(tmp_path) == "4x4x4"
    assert main(["match", "greedy", "random", "--openings", "1", "--quiet", *board]) == 0
    assert "greedy" in capsys.readouterr().out
    capsys.readouterr()
    for option in ("--html", "--plots"):
        with pytest.raises(SystemExit):
            main(["report", str(tmp_path), option, "there", *board])
        said = "works on the 6x7x4 board only, not on 4x4x4"
        assert f"argument {option}: {said}" in capsys.readouterr().err
    file = tmp_path / "all.npy"
    small = ["--board", "2x4x3"] if config.DISABLE_JIT else board
    assert main(["solve", "--all", str(file), *small]) == 0
    assert f"{len(np.load(file)):,} positions in {file}" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        *(["run", *RUN, "--board", board] for board in ("3x3x4", "1x7x4", "9x7x4", "10x10", "6x7")),
        ["run", *RUN, "--board", "-1"],
        ["run", "rust-port", "greedy", "--board", "4x4x4"],
        ["run", *RUN, "--html", "page.html", "--board", "4x4x4"],
        ["run", *RUN, "--board", "4x4x4", "--openings", "balanced:2,2"],
        ["quality", "greedy", "--board", "4x4x4"],
        ["report", "run", "--plots", "figures", "--board", "4x4x4"],
        ["solve", "15", "--board", "4x4x4"],
        ["solve", "11", "--all", "file", "--board", "4x4x4"],
    ],
    ids=" ".join,
)
def test_what_does_not_go_is_said_in_a_line(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):  # as the parser of arguments leaves, too
        raise SystemExit(main(words))
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)


def test_the_rest_of_the_evaluation_refuses() -> None:
    with pytest.raises(WrongBoard, match=r"evaluation\.exact\.refutation is made for 6x7x4"):
        c4env.board(4, 4).evaluation.refute("greedy")
