"""``c4 solve``."""

import io
import json

import pytest

from c4env.agents.solver import Solver
from c4env.position import Position
from tests.helpers.commands import refusal
from tests.rules import reference


@pytest.mark.compiled
def test_a_position_is_solved_in_json_and_in_text(c4):
    """docs/reference/command-line.md has the whole text."""
    assert "-2 -1  0 +1  0 -1 -2" in c4("solve", "--", "-")
    assert "red x has won" in c4("solve", "1212121")
    shown = c4("solve", "444444", "4455", "--format", "json")
    first, second = map(json.loads, shown.splitlines())
    assert first["columns"] == [-1, 0, 1, None, 1, 0, -1]
    assert (first["score"], first["best"], first["plies_to_end"]) == (1, "35", 35)
    assert len(first["line"]) == 35
    assert second["moves"] == "4455"


def lines(count, discs):
    return list(reference.random_games(seed=4, count=count, least=discs, most=discs))


def test_standard_input_is_answered_line_by_line(c4, monkeypatch):
    asked = lines(50, 30)
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{moves} 99\n" for moves in asked)))
    solver = Solver(table_mb=4)
    expected = [f"{moves} {solver.score(Position.parse(moves))}" for moves in asked]
    assert c4("solve").splitlines() == expected


def test_a_bad_line_is_refused_with_its_number(capsys, monkeypatch):
    """Before any answer."""
    for options, text, words in (
        ([], "44\n4455\n49\n", "line 3: '49'"),
        (["--format", "json"], "44\n4455\n49\n", "line 3: '49'"),
        ([], "44 2\n4 4 4\n", "line 2: '4 4 4': expected columns without spaces"),
    ):
        monkeypatch.setattr("sys.stdin", io.StringIO(text))
        assert words in refusal(["solve", *options], capsys)
