import json

import pytest

from c4env import evaluation
from c4env.evaluation.__main__ import main
from c4env.geometry import BOARD_SIZE as SIZE
from c4env.geometry import DIGITS, IS_STANDARD
from tests.evaluation.conftest import c4 as c4
from tests.helpers.commands import refusal
from tests.helpers.processes import run_python

TWO = ["random", "greedy", "--openings", "1", "--quiet"]
OTHER = "6x7x4"


def test_a_run_is_kept_and_shown_with_its_board(tmp_path, c4):
    out = str(tmp_path / "run")
    played = c4("run", *TWO, "--board", SIZE, "--out", out)
    message = f"The board has {SIZE.rows} rows and {SIZE.columns} columns; {SIZE.connect} in a row"
    assert (message in played) == (not IS_STANDARD)
    assert json.loads((tmp_path / "run" / "run.json").read_text())["board"] == str(SIZE)
    games = map(json.loads, (tmp_path / "run" / "games.jsonl").read_text().splitlines())
    assert set("".join(game["moves"] for game in games)) <= {*DIGITS}
    assert played.splitlines()[-2].split("digest ")[1] in c4("report", out)  # the digest
    if str(SIZE) == "4x4x4":
        for again in (["report", out], ["run", *TWO, "--out", out]):
            done = run_python("-m", "c4env.evaluation", *again, "--board", OTHER)
            assert f"has games on a board of {SIZE}, not {OTHER}" in done.stderr.splitlines()[-1]


@pytest.mark.skipif(IS_STANDARD, reason="tests/evaluation has it of the standard board")
def test_workers_play_on_the_board():
    here, there = (
        evaluation.round_robin(["random", "greedy"], openings=1, jobs=jobs) for jobs in (1, 2)
    )
    assert here.digest == there.digest
    assert {game.forfeited_by for game in here.games} == {None}


@pytest.mark.skipif(SIZE.rows * SIZE.columns > 42, reason="too slow")
def test_positions_are_shown_with_their_scores(c4):
    moves = 2 * (DIGITS[-1] + DIGITS[0])
    assert f"| {moves} |" in c4("solve", moves, "--format", "markdown")


@pytest.mark.skipif(IS_STANDARD, reason="the standard board has all of it")
@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("run rust-port greedy", "rust-port plays on 6x7x4, not on {}; use random"),
        ("run random greedy --html x", "works on the 6x7x4 board only, not on {}"),
        ("run random greedy --openings balanced:2,2", "book is made for 6x7x4, not for {}"),
        ("report run --plots figures", "works on the 6x7x4 board only, not on {}"),
        ("solve 1g", "'1g': move 2, 'g', is not a column (1 to "),
        ("solve 11 --all file", "--all: expected no positions"),
        ("quality greedy", "is made for 6x7x4, not for {}"),
        ("web", "is made for 6x7x4, not for {}"),
        (
            "run random greedy --board 6x7x4",
            "this process plays on {}: expected use_board",
        ),
    ],
)
def test_what_the_board_lacks_is_refused_in_a_line(command, message, capsys):
    assert message.format(SIZE) in refusal(command.split(), capsys)


def test_the_list_is_of_the_agents_that_play_the_board(c4):
    assert ("\nrust-port " in c4("list")) == IS_STANDARD
    assert main(["list", "greedy"]) == 0
