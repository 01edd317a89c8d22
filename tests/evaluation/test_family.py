"""The commands as one family: help, forms, pages, checks."""

import csv
import io
import json
import re

import pytest

from c4env import evaluation
from c4env.evaluation.__main__ import main
from c4env.evaluation.cli import COMMANDS
from c4env.evaluation.tables import rounded

RUN = ["--openings", "0", "--jobs", "1", "--quiet"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command(name, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    said = []
    for arguments in (["help", *name.split()], [*name.split(), "--help"]):
        with pytest.raises(SystemExit) as stopped:
            main(arguments)
        assert stopped.value.code == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]
    assert said[0].startswith(f"usage: c4 {name}")
    assert max(map(len, said[0].splitlines())) <= 80


@pytest.mark.parametrize(
    "command",
    [
        ["list", "greedy", "rust-port"],
        ["solve", "2252576253462244111563365343671351441"],
        ["leaderboard", "--stored"],
        ["check", "greedy"],
        ["play", "random", "greedy"],
        ["quality", "random", "greedy", "--on", "end-easy", "--count", "9", "--quiet"],
        ["run", "random", "greedy", *RUN],
        ["match", "random", "greedy", *RUN],
    ],
    ids=lambda command: command[0],
)
def test_every_form_wherever_something_is_printed(command, capsys):
    shown = {}
    for form in ("text", "markdown", "csv", "json"):
        assert main([*command, "--format", form]) == 0
        shown[form] = capsys.readouterr().out
        assert not shown[form].endswith("\n\n")
    assert "| ---" in shown["markdown"] or "- Elo: " in shown["markdown"]
    json.loads(shown["json"])
    rows = list(csv.reader(io.StringIO(shown["csv"])))
    assert len(rows) > 1
    assert len({len(row) for row in rows}) == 1


@pytest.mark.slow
def test_a_new_agent_plays_and_passes_its_check(folder, capsys):
    assert main(["new", "agent", "mine.py"]) == 0
    assert "c4 check mine.py:agent" in capsys.readouterr().out
    assert main(["check", "mine.py:agent"]) == 0
    assert "yes; the agent does not claim this" in capsys.readouterr().out
    for spec in ("mine.py", "mine.py:agent"):  # the function `agent` of the file
        assert main(["run", "random", "--only", spec, "--openings", "1", *RUN[2:]]) == 0
        shown = capsys.readouterr()
        assert shown.out.startswith(f"{spec} scores ")
        assert f"{spec} forfeited" not in shown.out


@pytest.mark.slow
def test_a_new_heuristic_is_judged_and_plays(folder, capsys):
    assert main(["new", "heuristic", "mine.py"]) == 0
    written, _, command = capsys.readouterr().out.partition("try: c4 ")
    assert written == "mine.py written; "
    assert main(command.split()) == 0
    agent = "alphabeta:depth=2,heuristic=mine.py:heuristic"
    assert main(["run", agent, "alphabeta:depth=2", "--openings", "0", *RUN[2:]]) == 0
    assert "forfeited" not in capsys.readouterr().out


def test_one_agent_against_a_field_has_a_row_an_opponent(folder, capsys):
    command = ["run", "random", "minimax:depth=1", "--only", "greedy", "--openings", "1", *RUN[2:]]
    assert main([*command, "--out", "run"]) == 0
    shown = capsys.readouterr().out
    said, _, heading, *rows = shown.splitlines()[:5]
    assert re.match(r"greedy scores [\d.]+% of 16 games, Elo \+\d+ \(95 %: ", said)
    assert heading.split() == ["opponent", "Elo", "score", "first", "second", "LOS", "nodes", "ms"]
    run = evaluation.read_run("run")
    for row in rows:
        opponent, _, score, _, _, _, *shown_cells = row.split()[:8]
        cells = [run.table.cell("greedy", opponent), ~run.table.cell(opponent, "greedy")]
        assert shown_cells == [*map(str, cells)]
        assert score == rounded((cells[0] + cells[1]).score, ".1%")
    assert "  moving first  " not in shown
    assert main(["report", "run"]) == 0
    assert capsys.readouterr().out.splitlines()[:5] == shown.splitlines()[:5]
    assert main([*command, "--format", "json"]) == 0
    met = json.loads(capsys.readouterr().out)["opponents"]
    assert {row.split()[0] for row in rows} == {each["opponent"] for each in met}
    for each in met:
        assert each["score_low"] <= each["score"] <= each["score_high"]
