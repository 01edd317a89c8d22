"""The commands as one family: help, forms, pages, checks."""

from __future__ import annotations

import csv
import io
import json

import pytest

from c4env import evaluation
from c4env.agents.base import Agent
from c4env.evaluation.__main__ import COMMANDS, main
from tests.helpers.processes import run_python

RUN = ["--openings", "0", "--jobs", "1", "--quiet"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command(name, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    said = []
    for arguments in (["help", name], [name, "--help"]):
        with pytest.raises(SystemExit) as stopped:
            main(arguments)
        assert stopped.value.code == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]
    assert said[0].startswith(f"usage: c4 {name}")
    assert max(map(len, said[0].splitlines())) <= 80


def test_the_list_fits_the_terminal(capsys, monkeypatch):
    whole = main(["list"]), capsys.readouterr().out
    monkeypatch.setenv("COLUMNS", "80")
    fitted = main(["list"]), capsys.readouterr().out
    assert max(map(len, fitted[1].splitlines())) <= 80 < max(map(len, whole[1].splitlines()))
    assert fitted[1].split() == whole[1].split()


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_a_script_completes_commands_and_options(shell, capsys):
    pytest.importorskip("shtab")
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "gauntlet" in script
    assert "--openings" in script
    assert {"bash": "_shtab_compgen_files", "zsh": ":_files"}[shell] in script


def test_help_alone_lists_the_commands(capsys):
    with pytest.raises(SystemExit):
        main(["help"])
    shown = capsys.readouterr().out
    assert all(f"\n  {name} " in shown for name in COMMANDS)
    with pytest.raises(SystemExit) as stopped:
        main(["help", "runn"])
    assert stopped.value.code == 2
    assert "did you mean 'run'?" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    [
        ["list", "greedy", "rust-port"],
        ["solve", "2252576253462244111563365343671351441"],
        ["experiment", "pruning", "--depth", "1", "--count", "2"],
        ["leaderboard", "--stored"],
        ["check", "greedy"],
        ["play", "random", "greedy", "--no-record"],
        ["run", "random", "greedy", *RUN],
        ["match", "random", "greedy", *RUN],
        ["sweep", "minimax:depth=1..2", *RUN],
    ],
    ids=lambda command: command[0],
)
def test_every_form_wherever_something_is_printed(command, capsys):
    shown = {}
    for form in ("text", "markdown", "csv", "json"):
        assert main([*command, "--format", form]) == 0
        shown[form] = capsys.readouterr().out
        assert not shown[form].endswith("\n\n")
    assert "| ---" in shown["markdown"]
    json.loads(shown["json"])
    rows = list(csv.reader(io.StringIO(shown["csv"])))
    assert len(rows) > 1
    assert len({len(row) for row in rows}) == 1


@pytest.mark.parametrize("command", ["run", "gauntlet", "match"])
def test_a_run_writes_its_page(command, folder, capsys):
    page = folder / "page.html"
    arguments = [command, "mine=greedy", "random", *RUN, "--html", str(page), "--no-scores"]
    assert main(arguments) == 0
    assert "page in" in capsys.readouterr().err
    assert '"players":["mine","random"]' in page.read_text()


def test_a_new_agent_plays_and_passes_its_check(folder, capsys):
    assert main(["new", "agent", "mine.py"]) == 0
    assert "c4 check mine.py:agent" in capsys.readouterr().out
    assert main(["check", "mine.py:agent"]) == 0
    assert "it does not say so" in capsys.readouterr().out
    assert main(["gauntlet", "mine.py:agent", "random", "--openings", "1", *RUN[2:]]) == 0
    shown = capsys.readouterr()
    assert shown.out.splitlines()[1].split()[1] == "mine.py:agent"
    assert "forfeit" not in shown.err
    before = (folder / "mine.py").read_text()
    for name, said in (("mine.py", "there already"), ("mine", ".py"), ("no/x.py", "No such")):
        assert main(["new", "agent", name]) == 2
        assert said in capsys.readouterr().err
    assert (folder / "mine.py").read_text() == before


def test_a_broken_agent_is_known_by_its_line(folder, capsys):
    (folder / "broken.py").write_text("def agent(observation):\n    return observation['key']\n")
    assert main(["check", "broken.py:agent"]) == 1
    assert "KeyError: 'key' (broken.py, line 2)" in capsys.readouterr().out
    command = ["-m", "c4env.evaluation", "run", "mine=broken.py:agent", "random", *RUN]
    shown = run_python(*command, check=True)
    assert shown.stderr == ""
    assert "mine forfeited 2 games (2 exception)" in shown.stdout


def test_results_show_themselves_in_a_notebook():
    class Odd(Agent):
        name = "a|b"

        def choose(self, position):
            return position.legal_columns()[0]

    result = evaluation.round_robin([Odd(), "greedy"], openings=0)
    shown = result._repr_markdown_()
    assert "| a\\|b |" in result.ratings._repr_markdown_()
    assert result.ratings._repr_markdown_() in shown
    assert result.table._repr_markdown_() in shown
