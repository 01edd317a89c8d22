from __future__ import annotations

import importlib.metadata
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from c4env import agents, evaluation
from c4env.agents.registry import registry
from c4env.evaluation.__main__ import main
from c4env.evaluation.cli.options import DEFAULT_FIELD
from c4env.evaluation.store.record import GAMES_FILE, read_games
from c4env.evaluation.studies.leaderboard import Board
from tests.helpers.commands import refusal
from tests.helpers.processes import environment, run_python

QUICK = ["run", "random", "greedy", "--openings", "0", "--jobs", "1", "--quiet"]


def test_run_prints_standings_first_then_the_table(capsys):
    assert main(["run", "random", "greedy", "--openings", "1", "--jobs", "1"]) == 0
    shown = capsys.readouterr()
    said, _, heading, *lines = shown.out.splitlines()
    assert said.startswith(("greedy is the stronger", "greedy leads"))
    assert heading.split()[:3] == ["place", "agent", "Elo"]
    assert lines[0].split()[1] == "greedy"
    assert "score moving first" in shown.out
    assert "8 games; openings of 1 ply" in shown.out
    assert "\x1b" not in shown.out
    assert "compiling" in shown.err or shown.err == ""  # no bar where there is no terminal


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_gets_colours_and_a_bar(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    for colour in (True, False):
        out, err = Terminal(), Terminal()
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", err)
        assert main(["run", "random", "greedy", "--openings", "1", "--jobs", "1"]) == 0
        assert ("\x1b[1mplace" in out.getvalue()) == colour
        assert "/8 [" in err.getvalue()
        monkeypatch.setenv("NO_COLOR", "1")


def test_agents_have_the_names_given_to_them_everywhere(tmp_path, capsys):
    run = ["run", "old=random", "new=random", "--openings", "0", "--jobs", "1", "--quiet"]
    assert main([*run, "--out", str(tmp_path), "--anchor", "old=100"]) == 0
    shown = capsys.readouterr().out
    assert {line.split()[1] for line in shown.splitlines()[3:5]} == {"old", "new"}
    header, games = read_games(tmp_path)
    assert header.players == {"old": "random", "new": "random"}
    assert {game.players for game in games} == {("old", "new"), ("new", "old")}
    assert main(["run", "greedy", "--only", "mine=greedy", *run[3:], "--format", "csv"]) == 0
    assert "mine,greedy" in capsys.readouterr().out
    assert main(["match", "a=greedy", "b=greedy", *run[3:], "--sprt", "0,400"]) == 0
    assert capsys.readouterr().out.startswith(("Undecided after", "H0 accepted"))
    assert main(["play", "one=random", "two=random", "--no-record"]) == 0
    assert "one (red x) plays" in capsys.readouterr().out


TIMED = [*QUICK, "--movetime", "5", "--anchor", "random=100"]


def test_json_holds_all_that_text_says(capsys):
    assert main([*TIMED, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    result = evaluation.round_robin(["random", "greedy"], openings=0, movetime=5)
    ratings = result.rate(("random", 100))
    assert found["digest"] == result.digest
    assert found["notes"] == list(result.notes)
    assert [r["player"] for r in found["ratings"]["players"]] == [r.player for r in ratings]
    first, rated = found["ratings"]["players"][0], ratings[0]
    for name in ("elo", "low", "high", "better", "score", "games"):
        assert first[name] == getattr(rated, name)
    assert first["ranks"] == list(rated.ranks)
    assert found["ratings"]["first_move"] == ratings.first_move._asdict()
    assert found["ratings"]["basis"] == ratings.basis()
    assert found["ratings"]["exact"] is False
    assert found["ratings"]["anchor"] == "random"


def test_markdown_holds_ratings_notes_and_digest(capsys):
    assert main([*TIMED, "--format", "markdown"]) == 0
    shown = capsys.readouterr().out
    assert "| place | agent | Elo | 95 % | score | games | > next |" in shown
    assert "5 s a move" in shown
    assert "random fixed" in shown
    assert "Digest `" in shown


@pytest.mark.slow
def test_what_an_exception_says_is_shown_and_not_obeyed(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "escaping.py").write_text(
        "def agent(observation):\n    raise ValueError('\\x1b]0;title\\x07\\x1b[2J\\u202e')\n"
    )
    for form in ("text", "markdown", "json"):
        command = [*QUICK[:2], "escaping:agent", *QUICK[3:], "--format", form]
        assert main([*command, "--out", "run"]) == 0
        shown = capsys.readouterr().out
        assert not any(ord(c) < 32 and c != "\n" for c in shown)
        assert "\u202e" not in shown
        if form == "text":
            assert "ValueError: \\x1b]0;title\\x07\\x1b[2J\\u202e" in shown
    assert main(["report", "run"]) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_the_version_is_told(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["--version"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out.startswith("c4env ")


def test_a_run_directory_is_written_resumed_and_reported(tmp_path, capsys):
    folder = str(tmp_path / "run")
    assert main([*QUICK, "--out", folder]) == 0
    first = capsys.readouterr().out
    assert main([*QUICK, "--out", folder]) == 0
    again = capsys.readouterr().out
    assert again.replace("2 of the games were stored already\n", "") == first
    assert len(read_games(tmp_path / "run")[1]) == 2
    assert main(["report", folder]) == 0
    report = capsys.readouterr().out
    digest = first.split("digest ")[1].split()[0]
    assert f"digest {digest}" in report


def test_the_default_field_is_every_agent_that_can_play_from_the_opening():
    assert set(DEFAULT_FIELD) | {"alphabeta", "negamax"} <= set(agents.names())
    published = {"minimax", "alphabeta-chain", "alphabeta-window", "rust-port"}
    assert published | {"alphabeta-window-b", "random", "greedy"} == set(DEFAULT_FIELD)


def test_list_describes_every_agent(capsys):
    assert main(["list"]) == 0
    shown = capsys.readouterr().out
    for name in agents.names():
        assert name in shown
    assert "depth=7" in shown
    assert main(["list", "rust-port"]) == 0
    assert "minimax" not in capsys.readouterr().out


def test_list_goes_on_after_a_broken_agent_of_another_package(capsys, monkeypatch):
    points = [
        importlib.metadata.EntryPoint(name, value, registry.ENTRY_POINTS)
        for name, value in {"absent": "no_such_module_1:A", "odd": "json:__name__"}.items()
    ]
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: points)
    registry._third_parties.cache_clear()  # they are read once, and nothing public reads them again
    try:
        assert main(["list"]) == 0
        shown = capsys.readouterr().out.split("\n")
        assert main(["list", "absent"]) == 2
    finally:
        registry._third_parties.cache_clear()
    (absent,) = (line for line in shown if line.startswith("absent "))
    assert "broken: " in absent
    assert "No module named 'no_such_module_1'" in absent
    (odd,) = (line for line in shown if line.startswith("odd "))
    assert "broken: " in odd
    assert any(line.startswith("rust-port ") for line in shown)


def test_play_records_and_reports(tmp_path, capsys, monkeypatch):
    lines = iter(["1", "4", "x", "1", "q"])
    monkeypatch.setattr("builtins.input", lambda prompt: next(lines))
    arguments = ["play", "human", "minimax:depth=2", "--record", str(tmp_path)]
    assert main([*arguments, "--hint", "minimax:depth=2"]) == 0
    shown = capsys.readouterr().out
    assert "'x' is not a column" in shown
    (game,) = read_games(tmp_path)[1]
    assert game.players == ("human", "minimax:depth=2")
    assert game.ending == "abandoned"
    assert "1 game; openings of 0 plies." in shown
    lines = iter(["1", "4", "q"])
    assert main([*arguments, "--format", "csv"]) == 0
    shown = capsys.readouterr()
    assert shown.out.splitlines()[1] == "human,minimax:depth=2,2,0,0,2,0.0"
    assert "you (red x) play 4" in shown.err
    lines = iter(["q"])
    assert main(arguments) == 0
    assert len(read_games(tmp_path)[1]) == 2
    assert main(["report", str(tmp_path)]) == 0
    assert "human" in capsys.readouterr().out


def test_a_game_left_before_it_began_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("builtins.input", lambda prompt: "q")
    assert main(["play", "human", "greedy", "--first", "1"]) == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("first", [[], ["--first", "2"]])
def test_who_goes_first_is_asked_unless_it_is_said(first, monkeypatch, capsys):
    asked = []
    monkeypatch.setattr("builtins.input", lambda prompt: asked.append(prompt) or "q")
    assert main(["play", "human", "greedy", *first, "--no-record"]) == 0
    assert ("who goes first" in asked[0]) == (not first)
    assert ("greedy (red x) plays" in capsys.readouterr().out) == bool(first)


ONE_SIDE = """
class A:
    resets, sides = 0, frozenset()
    def reset(self, seed=None):
        self.resets += 1
    def __call__(self, observation):
        self.sides |= {int(observation["observation"].sum()) % 2}
        assert (self.resets, len(self.sides)) == (1, 1)
        return int(observation["action_mask"].argmax())
"""


def test_an_agent_against_itself_is_two_objects(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one_side.py").write_text(ONE_SIDE)
    assert main(["play", "one_side.py:A", "one_side.py:A", "--no-record"]) == 0
    assert "one_side.py:A (red x) wins" in capsys.readouterr().out


def test_play_can_leave_no_record(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["play", "random", "greedy", "--no-record"]) == 0
    assert list(tmp_path.iterdir()) == []
    assert "wins" in capsys.readouterr().out


@pytest.mark.parametrize("form", ["text", "markdown", "csv", "json"])
def test_a_name_that_the_terminal_cannot_write_loses_no_result(form):
    words = [*QUICK, "--format", form]
    words[1] = "\N{SLIGHTLY SMILING FACE}=random"
    variables = environment(PYTHONIOENCODING="cp1252")
    shown = run_python("-m", "c4env.evaluation", *words, env=variables, check=True)
    assert "greedy" in shown.stdout
    assert "1f642" in shown.stdout or "\\ud83d\\ude42" in shown.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
def test_ctrl_c_before_anybody_listens_ends_a_command_in_silence(tmp_path):
    (tmp_path / "gymnasium").mkdir()  # what is imported first of all
    (tmp_path / "gymnasium" / "__init__.py").write_text(
        "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n"
    )
    variables = environment()
    variables["PYTHONPATH"] = f"{tmp_path}{os.pathsep}{variables['PYTHONPATH']}"
    stopped = run_python("-m", "c4env.evaluation", "list", env=variables)
    assert (stopped.returncode, stopped.stdout, stopped.stderr) == (-signal.SIGINT, "", "")
    other = run_python("-c", "import c4env", env=variables)  # a program of somebody else's
    assert "KeyboardInterrupt" in other.stderr


def test_ctrl_c_when_all_is_done_changes_nothing():
    late = (
        "import os, signal, sys\n"
        "import c4env.evaluation.__main__ as command\n"
        "leave = command._leave\n"
        "def stopped(code):\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    leave(code)\n"
        "command._leave = stopped\n"
        "sys.argv = ['c4', 'list', 'random']\n"
        "command.main()\n"
    )
    shown = run_python("-c", late)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "random" in shown.stdout


UNWRITABLE = {
    "html": ["run", "random", "greedy", "--html", "PATH"],
    "html of a match": ["match", "random", "greedy", "--html", "PATH"],
    "games": ["report", "run", "--games", "PATH.csv"],
    "plots": ["report", "run", "--plots", "PATH"],
    "store": ["leaderboard", "--quick", "--store", "PATH"],
}


@pytest.mark.parametrize("arguments", UNWRITABLE.values(), ids=UNWRITABLE)
@pytest.mark.parametrize("path", ["no/such/folder", "file/x", "/proc/none/x"])
def test_what_cannot_be_written_is_refused_before_a_game(
    arguments, path, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    if "--plots" in arguments and path == "no/such/folder":
        path = "file"  # its folders are made
    assert main([*QUICK, "--out", "run"]) == 0
    capsys.readouterr()
    before = sorted(tmp_path.rglob("*"))
    given = [argument.replace("PATH", path) for argument in arguments]
    assert " cannot be written: " in refusal(given, capsys)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_page_in_the_run_directory_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main([*QUICK, "--no-scores", "--out", "new", "--html", "new/page.html"]) == 0
    assert (tmp_path / "new" / "page.html").exists()


@pytest.mark.parametrize("option", ["--games", "--html", "--plots"])
def test_a_run_without_a_game_has_nothing_to_write(option, tmp_path, capsys):
    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluation.round_robin(["random", "greedy"], 0, out=tmp_path, watch=stop)
    path = tmp_path / "games.csv"
    assert "has no games yet" in refusal(["report", str(tmp_path), option, str(path)], capsys)
    assert not path.exists()


@pytest.mark.parametrize("command", ["run", "match", "leaderboard"])
def test_games_without_a_directory_outlive_what_fails_after_them(
    command, tmp_path, capsys, monkeypatch
):
    def broken(*anything):
        raise RuntimeError("no paper")

    for module in ("pages", "leaderboard"):
        monkeypatch.setattr(f"c4env.evaluation.cli.{module}.show", broken)
    arguments = [command, *QUICK[1:]]
    if command == "leaderboard":
        field = evaluation.round_robin(["greedy", "minimax:depth=1"], 0)
        board = Board.of(field, dict.fromkeys(field.players, "default"))
        (tmp_path / "field").write_text(board.format())
        arguments = [command, "--place", "random", "--field", str(tmp_path / "field"), "--quiet"]
    with pytest.raises(RuntimeError):
        main(arguments)
    said = capsys.readouterr().err
    assert re.match(r"\d games kept: c4 report ", said)
    folder = Path(said.split()[-1])
    _, games = read_games(folder)
    assert [game.players for game in games][:2] == [("random", "greedy"), ("greedy", "random")]
    monkeypatch.undo()
    assert main(["report", str(folder)]) == 0
    shutil.rmtree(folder)


def test_a_directory_of_another_run_is_one_line(tmp_path, capsys):
    assert main([*QUICK, "--out", str(tmp_path)]) == 0
    before = (tmp_path / GAMES_FILE).read_bytes()
    capsys.readouterr()
    assert "another run" in refusal([*QUICK, "--out", str(tmp_path), "--seed", "5"], capsys)
    assert (tmp_path / GAMES_FILE).read_bytes() == before


def test_an_unfinished_run_says_so_and_a_resumed_one_too(tmp_path, capsys):
    assert main([*QUICK, "--out", str(tmp_path)]) == 0
    path = tmp_path / GAMES_FILE
    lines = path.read_text().splitlines(keepends=True)
    for kept in (0, 1):
        path.write_text("".join(lines[:kept]))
        capsys.readouterr()
        assert main(["report", str(tmp_path)]) == 0
        shown = capsys.readouterr().out
        assert f"unfinished: {kept} of 2 games" in shown
        assert "greedy" in shown
    assert main([*QUICK, "--out", str(tmp_path)]) == 0
    assert "1 of the games was stored already" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_repository_with_agents_and_evaluation_of_its_own_plays_its_own(tmp_path, jobs):
    for package in ("agents", "evaluation"):
        (tmp_path / package).mkdir()
    (tmp_path / "agents" / "__init__.py").write_text(
        "def first(observation):\n    return int(observation['action_mask'].argmax())\n"
    )
    (tmp_path / "evaluation" / "__init__.py").write_text("raise RuntimeError('theirs')\n")
    (tmp_path / "mine.py").write_text("from agents import first\nagent = first\n")
    run = ["run", "mine.py:agent", "agents:first", "random", "--openings", "0", "--jobs", jobs]
    run += ["--quiet", "--format", "json"]
    done = run_python("-m", "c4env.evaluation", *run, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [player["forfeits"] for player in json.loads(done.stdout)["players"]] == [{}, {}, {}]


def test_listing_agents_compiles_nothing():
    code = (
        "import sys; from c4env import agents; import c4env.evaluation.__main__ as c;"
        "c.main(['list']); agents.make('random'); assert 'numba' not in sys.modules"
    )
    run_python("-c", code, check=True)


@pytest.mark.slow
@pytest.mark.compiled  # from nothing: seconds
def test_a_run_says_that_it_compiles_when_it_does(tmp_path):
    command = ["-m", "c4env.evaluation", "run", "--openings", "0", "--jobs", "1", "random"]
    elsewhere = environment(NUMBA_CACHE_DIR=str(tmp_path))
    said = [
        run_python(*command, opponent, env=elsewhere, check=True).stderr
        for opponent in ("greedy", "greedy", "rust-port:depth=1")
    ]
    assert [text.count("compiling native code") for text in said] == [1, 0, 1]


def test_output_into_a_closed_pipe_is_no_error():
    command = f"{sys.executable} -m c4env.evaluation list | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert done.stderr == ""
