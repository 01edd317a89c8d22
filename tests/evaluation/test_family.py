"""The commands as one family: help, forms, pages, checks, other boards."""

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

pytestmark = pytest.mark.usefixtures("folder")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command(name, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = []
    for arguments in (["help", *name.split()], [*name.split(), "--help"]):
        with pytest.raises(SystemExit) as stopped:
            main(arguments)
        assert stopped.value.code == 0
        lines.append(capsys.readouterr().out)
    assert lines[0] == lines[1]
    assert lines[0].startswith(f"usage: c4 {name}")
    assert max(map(len, lines[0].splitlines())) <= 80


@pytest.mark.parametrize(
    "command",
    [
        ["list", "greedy", "rust-port"],
        ["solve", "2252576253462244111563365343671351441"],
        ["leaderboard"],
        ["check", "greedy"],
        ["play", "random", "greedy"],
        ["quality", "random", "greedy", "--on", "end-easy", "--count", "9", "--quiet"],
        ["run", "random", "greedy", *RUN],
        ["match", "random", "greedy", *RUN],
    ],
    ids=lambda command: command[0],
)
def test_every_form_wherever_something_is_printed(command, c4):
    forms = ("text", "markdown", "csv", "json")
    shown = {form: c4(*command, "--format", form) for form in forms}
    assert not any(printed.endswith("\n\n") for printed in shown.values())
    assert "| ---" in shown["markdown"] or "- Elo: " in shown["markdown"]
    json.loads(shown["json"])
    rows = list(csv.reader(io.StringIO(shown["csv"])))
    assert len(rows) > 1
    assert len({len(row) for row in rows}) == 1


def test_one_agent_against_a_field_has_a_row_per_opponent(c4):
    command = ["run", "random", "minimax:depth=1", "--only", "greedy", "--openings", "1", *RUN[2:]]
    shown = c4(*command, "--out", "run")
    message, _, heading, *rows = shown.splitlines()[:5]
    assert re.match(r"greedy scores [\d.]+% of 16 games, Elo \+\d+ \(95 %: ", message)
    assert heading.split() == ["opponent", "Elo", "score", "first", "second", "LOS", "nodes", "ms"]
    run = evaluation.read_run("run")
    for row in rows:
        opponent, _, score, _, _, _, *shown_cells = row.split()[:8]
        cells = [run.table.cell("greedy", opponent), ~run.table.cell(opponent, "greedy")]
        assert shown_cells == [*map(str, cells)]
        assert score == rounded((cells[0] + cells[1]).score, ".1%")
    assert "  moving first  " not in shown
    assert c4("report", "run").splitlines()[:5] == shown.splitlines()[:5]
    met = json.loads(c4(*command, "--format", "json"))["opponents"]
    assert {row.split()[0] for row in rows} == {each["opponent"] for each in met}
    for each in met:
        assert each["score_low"] <= each["score"] <= each["score_high"]
