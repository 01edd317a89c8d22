"""The text protocol of ``exec:``: programs that keep it, and the line where others break it."""

import os
import re
import shutil
import subprocess

import pytest

from c4env import Position, agents
from c4env.agents.programs.conformance import broken_line
from c4env.evaluation.runs.check import check_agent
from tests.helpers.commands import refusal
from tests.helpers.engines import FIRST, answering, python
from tests.helpers.paths import ROOT

pytestmark = pytest.mark.skipif(os.name != "posix", reason="quotes of a POSIX shell")


def made(command, options=""):
    return agents.make(f"exec:{command}{options}")


@pytest.mark.parametrize(
    ("statements", "options"),
    [
        (FIRST, ""),
        ("print('ok' if moves[:5] == 'reset' else moves + ' 0 0 0 0 0 0 0')", ",reply=scores"),
        ("print('nodes=5', 3)", ",reply=score"),
    ],
)
def test_a_program_that_keeps_the_protocol(tmp_path, statements, options):
    flushed = f"{statements}; sys.stdout.flush()"
    options += "" if statements is FIRST else ",newgame=reset"
    assert broken_line(made(answering(tmp_path, flushed), options)) == ""


@pytest.mark.parametrize(
    ("statements", "discs", "words"),
    [
        ("print(4)", 41, "gave no answer within .*; does it flush its output"),
        ("print(0, flush=True)", 41, "counts from 0 adds 1 to its answer"),
        ("print(5, flush=True)", 41, "'5': expected a column that is not full"),
        (f"{FIRST}; moves or print(2, flush=True)", 0, "wrote '2.*' without a request"),
        (f"{FIRST}; moves or sys.exit(3)", 0, "ended with exit code 3"),
        (f"moves[35:] or sys.exit(0); {FIRST}", 35, "ended with exit code 0"),
    ],
)
def test_the_line_that_a_program_breaks_is_named(tmp_path, monkeypatch, statements, discs, words):
    monkeypatch.setattr("c4env.agents.programs.exec.STARTUP", 1.0)
    broken = broken_line(made(answering(tmp_path, statements), ",timeout=2"))
    assert re.match(rf"line '\d{{{discs}}}': .*{words}", broken), broken


def test_a_program_that_outlives_its_input_is_named(tmp_path):
    source = f"import sys, time\nfor line in sys.stdin:\n    moves = line.strip()\n    {FIRST}\n"
    source += "time.sleep(60)\n"
    assert "goes on 2 s after the end of its input" in broken_line(made(python(tmp_path, source)))


def test_the_check_of_an_agent_stops_at_the_broken_line(tmp_path):
    check = check_agent(f"exec:{answering(tmp_path, 'print(0, flush=True)')}")
    assert (check.good, check.moves) == (False, 0)
    assert re.match(r"protocol: line '\d{41}': .* counts from 0", check.fault)
    assert "docs/guides/other-programs.md" in check.remedy


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_the_engine_in_c_of_the_guide_keeps_the_protocol(tmp_path):
    guide = (ROOT / "docs/guides/other-programs.md").read_text()
    (source,) = re.findall(r"```c\n(.*?)```", guide, re.DOTALL)
    (tmp_path / "engine.c").write_text(source)
    build = ["cc", "-Wall", "-Wextra", "-Werror", "-o", "engine", "engine.c"]
    subprocess.run(build, cwd=tmp_path, check=True)
    agent = made(tmp_path / "engine")
    assert broken_line(agent) == ""
    assert agent.choose(Position.parse("1212")) == 3
    assert agent.choose(Position.parse("444444")) == 2
    agent.close()


def test_a_command_without_quotes_is_told_to_quote(capsys):
    told = refusal(["run", "new=exec:/bin/cat", "1", "random"], capsys)
    assert told.endswith("; quote a command with arguments: 'new=exec:/bin/cat 1'\n")
