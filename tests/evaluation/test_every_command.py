"""Bad input is one line and exit code 2: a table a command."""

import io
import subprocess
import sys

import pytest

from c4env.evaluation.__main__ import main
from c4env.evaluation.cli import output as progress
from c4env.evaluation.cli.output import MatchProgress, RunProgress
from c4env.evaluation.ratings.sprt import Sprt
from c4env.evaluation.records.game import GameRecord
from c4env.evaluation.records.run_folder import read_folder
from tests.helpers.commands import refusal
from tests.helpers.processes import environment

BAD = {  # what a command itself finds; refusals of what it calls have tests where that is
    "": [
        ("runn", "did you mean 'run'?"),
        ("help runn", "did you mean 'run'?"),
        ("sweep minimax:depth=1..2", "unknown command 'sweep'; expected run, match"),
    ],
    "run": [
        ("random", "at least two"),
        ("alphabeta depth=4 greedy", "depth is an option: did you mean 'alphabeta:depth=4'?"),
        ("random \x1b[31mred", "unknown agent '\\x1b[31mred'"),
        ("random greedy --open 0", "unrecognized arguments: --open 0"),
        ("random greedy --openings 9", "9 is more than 8 plies; write moves:9 for moves"),
        ("random greedy --out ", "expected the name of a directory"),
        ("random greedy --out pyproject.toml", "is a file: expected a directory"),
        (f"random greedy --out {'x' * 300}", "File name too long"),
        ("random greedy --margin 1", "--margin has no effect without"),
        ("random greedy --seed two", "invalid int value: 'two'"),
        ("random greedy --backend x", "c4 run: --backend='x': expected dask or ray"),
        ("random greedy --html tests", "'tests' is a folder: expected the name of a file"),
        ("a b --anchor a=0 --anchor=b=3", "--anchor: given twice, a=0 and b=3: expected it once"),
        ("a b --quiet --margin 1 --quiet", "argument --quiet: given twice: expected it once"),
        ("random greedy --board 10x10", "board '10x10': expected ROWSxCOLUMNSxLINE"),
    ],
    "match": [
        ("greedy", "required: B (see"),
        ("new=exec:./new 1 old=exec:./old", "old; quote a program with its arguments"),
        ("greedy random --beta 0.1", "--beta has no effect without --sprt"),
    ],
    "solve": [
        ("44 --threads 0", "c4 solve: --threads=0: "),
    ],
    "data": [("x.npz --plies 8..60", "argument --plies: 8..60: expected a number or a range such")],
    "leaderboard": [
        ("--place rndom --quiet", "did you mean 'random'"),
        ("--games 30", "--games has no effect without --place"),
    ],
    "quality": [
        ("--on end-easy", "expected games, agents, or --heuristics"),
        ("--heuristics lines --on end-easy --count 0", "0 positions"),
        ("--heuristics lines --on end-easy --out x", "--out has no effect with --heuristics"),
        ("--heuristics lines", "--heuristics: expected --on"),
        ("greedy --heuristics lines --on end-easy", "and no agents"),
        (
            "a --on x y --on z",
            "--on: given twice, x y and z: expected it once, with all its values",
        ),
    ],
    "refute": [("greedy --positions 0", "c4 refute: --positions=0: expected a positive integer")],
    "report": [
        (".", ". has no games: expected games.jsonl of a run"),
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("none --games games.txt", "expected a file name that ends in .csv, .json"),
    ],
    "list": [("builtins:max", "agent 'builtins:max': <built-in function max> has no signature")],
    "play": [
        ("human rndom", "unknown agent 'rndom'; did you mean 'random'?"),
        ("random greedy --seed -3", "--seed: -3"),
        ("human=greedy random", "human=greedy: human means a person: expected another"),
        ("a=greedy a=random", "a=greedy a=random: expected two different names"),
        ("random greedy --record LICENSE/games", "cannot be written: "),
        ("random greedy --moves 1212121", "--moves 1212121: expected a game that is not over"),
    ],
}


@pytest.mark.parametrize(
    ("command", "arguments", "words"),
    [(command, *case) for command, cases in BAD.items() for case in cases],
)
def test_bad_input_is_one_line_and_exit_code_2(
    command, arguments, words, capsys, monkeypatch, request
):
    monkeypatch.chdir(request.config.rootpath)
    given = [*command.split(), *(arguments.split(" ") if arguments else ())]
    assert words in refusal(given, capsys)


@pytest.mark.slow
def test_a_users_module_that_raises_is_one_line_everywhere(folder, capsys):
    (folder / "raising_agent.py").write_text("1 / 0\n")
    for command in ("play {} random", "web {}", "list {}", "run random alphabeta:heuristic={}"):
        shown = refusal(command.format("raising_agent:A").split(), capsys)
        assert "raising_agent:A" in shown
        assert "ZeroDivisionError: division by zero (raising_agent.py, line 1)" in shown


QUICK = ["run", "random", "greedy", "--openings", "0", "--jobs", "1", "--quiet"]


def test_digits_after_moves_are_openings(tmp_path, c4):
    c4(*QUICK[:3], "--openings", "moves:44,,12", "--quiet", "--out", tmp_path)
    assert sorted(read_folder(tmp_path)[0].openings) == ["", "12", "44"]


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
        assert main(["play", "random", "greedy"]) == 0
        assert ("\x1b[91m" in out.getvalue()) == colour
        assert "/8 [" in err.getvalue()
        monkeypatch.setenv("NO_COLOR", "1")


def test_agents_have_the_names_given_to_them_everywhere(tmp_path, c4):
    run = ["run", "old=random", "new=random", *QUICK[3:]]
    shown = c4(*run, "--out", tmp_path, "--anchor", "old=100")
    assert {line.split()[1] for line in shown.splitlines()[3:5]} == {"old", "new"}
    header, games = read_folder(tmp_path)
    assert header.players == {"old": "random", "new": "random"}
    assert {game.players for game in games} == {("old", "new"), ("new", "old")}
    shown = c4("run", "greedy", "--only", "mine=greedy", *run[3:], "--format", "csv")
    assert shown.splitlines()[1].startswith("greedy,")
    shown = c4("match", "a=greedy", "b=greedy", *run[3:], "--sprt", "-10,400")
    assert shown.startswith(("Undecided after", "H0 accepted"))
    assert "H0: -10, H1: 400" in shown
    assert "one (red x) plays" in c4("play", "one=random", "two=random")


@pytest.mark.parametrize(
    ("command", "code", "words"),
    [
        ("C4 list | head -1", 0, ""),
        *(
            pytest.param(*case, marks=pytest.mark.isolated)
            for case in [
                ("C4 run random r=random --openings 0 --jobs 1 --quiet >&-", 0, ""),
                ("C4 run random r=random --openings 0 --html p 2>&1 | true; test -s p", 0, ""),
                ("mkdir gone && cd gone && rmdir ../gone && C4 list", 2, "folder was deleted"),
                ("C4 list > /dev/full", 2, "No space left on device"),
                ("PYTHONIOENCODING=ascii C4 run 棋=random random --openings 0 --quiet", 0, ""),
            ]
        ),
    ],
)
def test_a_closed_output_or_a_deleted_folder_gives_no_traceback(command, code, words, tmp_path):
    command = command.replace("C4", f"{sys.executable} -m c4env.evaluation")
    options = {"shell": True, "capture_output": True, "text": True, "cwd": tmp_path}
    done = subprocess.run(command, env=environment(), check=False, **options)
    assert (done.returncode, done.stderr.count("\n")) == (code, bool(code))
    assert words in done.stderr


def test_a_stream_with_only_a_write_method_is_not_a_terminal(capsys, monkeypatch):
    class Plain:
        def __init__(self, to):
            self.write, self.flush = to.write, to.flush

    monkeypatch.setattr(sys, "stdout", Plain(sys.stdout))
    monkeypatch.setattr(sys, "stderr", Plain(sys.stderr))
    assert main(QUICK) == 0
    assert "digest" in capsys.readouterr().out


def test_the_only_agent_may_be_listed_too(c4):
    items = []
    for given in (["greedy", "mine=random"], ["mine=random"]):
        shown = c4("run", *given, "--only", "greedy", "--format", "csv", *QUICK[3:])
        items.append([row.split(",")[:5] for row in shown.splitlines()])
    assert items[0] == items[1]


UNWRITABLE = {
    "html": ["match", "random", "greedy", "--html", "PATH"],
    "games": ["report", "run", "--games", "PATH.csv"],
    "plots": ["report", "run", "--plots", "PATH"],
}


@pytest.mark.parametrize("arguments", UNWRITABLE.values(), ids=UNWRITABLE)
def test_what_cannot_be_written_is_refused_before_a_game(arguments, folder, c4, capsys):
    (folder / "file").write_text("")
    c4(*QUICK, "--out", "run")
    before = sorted(folder.rglob("*"))
    given = [argument.replace("PATH", "file/x") for argument in arguments]
    assert " cannot be written: " in refusal(given, capsys)
    assert sorted(folder.rglob("*")) == before


def test_c4_without_arguments_prints_the_commands(c4):
    assert "\n  run " in c4()


def progress_of_games(quiet=False):
    with RunProgress(quiet=quiet) as shown:
        shown.watch(0, 4)
        for i, (pair, winner) in enumerate(zip(("ab", "ba") * 2, (0, 0, 0, None), strict=True)):
            shown.on_game(GameRecord(tuple(pair), "", "1", winner, "four"))
            shown.watch(i + 1, 4)


def test_a_log_has_a_line_now_and_then_and_a_terminal_a_bar(capsys, monkeypatch):
    progress_of_games()
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(progress, "LOG_SECONDS", 0.0)
    progress_of_games()
    lines = capsys.readouterr().err.splitlines()
    assert (lines[0], lines[-1]) == ("0 of 4 games", "4 of 4 games: a 62%, b 38%")
    progress_of_games(quiet=True)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys, "stderr", Terminal())
    progress_of_games()
    assert "4/4 [" in sys.stderr.getvalue()
    assert "a 62%, b 38%" in sys.stderr.getvalue()


def test_a_match_says_score_elo_and_the_ratio_between_its_bounds():
    shown = MatchProgress(Sprt(0, 40))
    assert shown.so_far() == ""
    for points in (1, 1.5):
        shown.on_pair(points)
    ratio = float(Sprt(0, 40).llr((0, 0, 1, 1, 0)))
    assert shown.so_far() == f"score 62.5%, Elo +89, LLR {ratio:.2f} (-2.94 .. 2.94)"
