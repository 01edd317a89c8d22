"""Bad input is one line and exit code 2: a table a command."""

from __future__ import annotations

import pytest

from c4env.evaluation.__main__ import main
from tests.helpers.commands import refusal

BAD = {
    "": [
        ("", "required: COMMAND"),
        ("runn", "did you mean 'run'?"),
        ("help runn", "did you mean 'run'?"),
        ("sweep minimax:depth=1..2", "unknown command 'sweep'; expected run, match"),
    ],
    "run": [
        ("random", "at least two"),
        ("random rndom", "unknown agent 'rndom'; did you mean 'random'?"),
        ("random \x1b[31mred", "unknown agent '\\x1b[31mred'"),
        ("random greedy --openings two", "No such file"),
        ("random greedy --out ", "expected the name of a directory"),
        ("random greedy --out pyproject.toml", "is a file: expected a directory"),
        (f"random greedy --out {'x' * 300}", "File name too long"),
        ("random greedy --margin 1", "--margin has no effect without"),
        ("random greedy --jobs 0", "jobs=0"),
        ("random greedy --seed two", "invalid int value: 'two'"),
        ("random greedy --opening-book x", "unrecognized arguments"),
        ("greedy greedy", "c4 play"),
        ("one=random one=greedy", "agent 'one' is given twice"),
        ("greedy --only greedy", "a gauntlet needs a challenger and at least one agent"),
        ("greedy --only", "expected one argument"),
        ("alphabeta:depth={1,2 --quiet", "unmatched brace"),
        ("alphabeta:depth=1..2 alphabeta:depth=2", "'alphabeta:depth=2' is given twice"),
    ],
    "match": [
        ("greedy", "required: B (see"),
        ("greedy random --sprt 40,0", "sprt 40,0: expected H0,H1 in Elo, the smaller first"),
        ("greedy random --sprt 0,1001", "within -1000..1000"),
        ("greedy random --sprt forty", "sprt 'forty': expected H0,H1 in Elo"),
        ("greedy random --sprt 0,40 --alpha 0.7", "alpha=0.7: expected a probability"),
        ("greedy random --alpha 0.1", "--alpha has no effect without --sprt"),
        ("greedy random --beta 0.1", "--beta has no effect without --sprt"),
        ("greedy random --openings nowhere.txt", "nowhere.txt"),
    ],
    "solve": [
        ("48", "'48'"),
        ("4444444", "column 4 is full; legal columns: 1, 2, 3, 5, 6, 7"),
        ("12121212", "the game is over"),
        ("44 --threads 0", "threads=0"),
        ("44 --table-mb 0", "table_mb=0"),
        ("44 --table-mb 999999999999", "table_mb=999999999999: "),
    ],
    "leaderboard": [
        ("--place rndom --quiet", "did you mean 'random'"),
        ("--place random --field nowhere.json", "nowhere.json: No such file"),
        ("--place random --field pyproject.toml", "pyproject.toml: not a leaderboard"),
        ("--place random --limit 0 --quiet", "limit=0"),
        ("--place random --quick", "--quick has no effect with --place"),
        ("--limit 3", "--limit has no effect without --place"),
        ("--stored --quick", "--quick has no effect with --stored"),
        ("--stored --out x", "--out has no effect with --stored"),
        ("--readme nowhere.md", "nowhere.md: No such file"),
        ("--readme LICENSE", "expected the lines <!-- leaderboard: begin -->"),
    ],
    "quality": [
        ("--on end-easy", "expected a run directory, agents, or --heuristics"),
        ("--heuristics nope --on end-easy", "heuristic 'nope'"),
        ("--heuristics lines --on no-such-set", "no-such-set"),
        ("--heuristics lines --on end-easy --seed -2", "--seed -2"),
        ("--heuristics lines --on end-easy --count 0", "0 positions"),
        ("--heuristics lines --on end-easy --out x", "--out has no effect with --heuristics"),
        ("--heuristics lines", "--heuristics: expected --on"),
        ("greedy --heuristics lines --on end-easy", "and no agents"),
    ],
    "report": [
        ("no-such-folder", "no-such-folder"),
        ("x" * 300, "File name too long"),
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("none --games games.txt", "expected a file name that ends in .csv, .json"),
    ],
    "list": [
        ("rndom", "did you mean 'random'?"),
        ("builtins:max", "agent 'builtins:max': <built-in function max> has no signature"),
    ],
    "play": [
        ("human rndom", "did you mean 'random'?"),
        ("random greedy --seed -3", "--seed -3"),
        ("human=greedy random", "human=greedy: human means a person: expected another"),
        ("a=greedy a=random", "a=greedy a=random: expected two different names"),
        ("random greedy --record LICENSE/games", "cannot be written to"),
        ("random greedy --moves 1212121", "--moves 1212121: expected a game that is not over"),
        ("random greedy --moves 49", "'49': '9' at 2 is not a column 1..7"),
    ],
    "new": [
        ("agent pyproject.toml", "expected a file name that ends with .py"),
        ("agent tests/conftest.py", "already exists"),
        ("agent no/x.py", "No such"),
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


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "raising_agent:A", "random"],
        ["play", "raising_agent:A", "random"],
        ["web", "raising_agent:A"],
        ["leaderboard", "--place", "raising_agent:A"],
        ["quality", "raising_agent:A", "--on", "end-easy"],
        ["quality", "--heuristics", "raising_agent:A", "--on", "end-easy"],
        ["list", "raising_agent:A"],
        ["run", "random", "alphabeta:heuristic=raising_agent:A"],
        ["run", "random", "puct:function=raising_agent:A"],
    ],
)
def test_a_users_module_that_raises_is_one_line_everywhere(
    arguments, tmp_path, capsys, monkeypatch
):
    (tmp_path / "raising_agent.py").write_text("1 / 0\n")
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    shown = capsys.readouterr().err
    assert shown.count("\n") == 1
    assert "raising_agent:A" in shown
    assert "ZeroDivisionError: division by zero (raising_agent.py, line 1)" in shown
