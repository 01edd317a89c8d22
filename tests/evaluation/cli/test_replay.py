from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from c4env import Position
from c4env.agents.solver import Solver
from c4env.evaluation.__main__ import main
from c4env.evaluation.cli.replay import remark
from c4env.evaluation.plan.header import RunHeader
from c4env.evaluation.store.record import GameRecord, open_games

GAME = GameRecord(("one", "two"), "44", "4455667", 0, "four")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with open_games(tmp_path, RunHeader(kind="people")) as file:
        file.append(GAME)
    return tmp_path


def test_a_game_is_shown_to_its_end(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(folder), "1"]) == 0
    shown = capsys.readouterr().out
    assert "one (first) against two, opening 44" in shown
    assert "one wins (four)" in shown
    for ply in range(2, 7):
        position = Position.parse(GAME.moves[:ply])
        assert str(position) in shown
        best = max(s for s in Solver().scores(position) if s is not None)
        assert f"{best:+d}" in shown or best == 0
    assert shown.count("plays") == 5
    assert "a blunder" in shown


def test_what_a_forfeit_left_open_is_scored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_games(tmp_path, RunHeader(kind="people")) as file:
        file.append(GameRecord(("one", "two"), "44", "44", 1, "exception", "boom"))
    assert main(["replay", str(tmp_path), "1"]) == 0
    shown = capsys.readouterr().out
    assert "exact: " in shown
    assert "two wins (exception: boom)" in shown


def test_without_scores_there_are_only_boards(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", str(folder), "1", "--no-scores"]) == 0
    shown = capsys.readouterr().out
    assert "exact" not in shown
    assert str(Position.parse(GAME.moves)) in shown


def test_steps_wait_for_enter_and_q_stops(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n\nq\n"))
    assert main(["replay", str(folder), "1", "--step", "--no-scores"]) == 0
    assert capsys.readouterr().out.count("plays") == 2


@pytest.mark.parametrize("number", ["0", "2", "-1"])
def test_a_game_that_is_not_there(
    folder: Path, capsys: pytest.CaptureFixture[str], number: str
) -> None:
    assert main(["replay", str(folder), number]) == 2
    assert f"game {number}: expected 1..1" in capsys.readouterr().err


def test_remarks() -> None:
    scores = (-2, 1, 3, None, 0, 3, 3)
    assert remark(scores, 2) == ""
    assert remark(scores, 1) == ", not the best: 3, 6, 7 scores +3, it +1"
    assert remark(scores, 4) == ", a blunder: 3, 6, 7 scores +3, it +0"
    assert "a blunder" in remark(scores, 0)
