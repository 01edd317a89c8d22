"""Every code block of every README and of the site runs; the set-up blocks run in .ci/run."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess

import pytest

from c4env.evaluation.studies.leaderboard import put_between_markers, stored_board
from tests.helpers.paths import ROOT
from tests.helpers.processes import environment, run_python

READMES = [
    *sorted(set(ROOT.glob("*.md")) - {ROOT / "CONTRIBUTING.md"}),  # blocks of files
    *sorted(
        p for folder in ("c4env", "agents", "evaluation") for p in ROOT.glob(f"{folder}/**/*.md")
    ),
]
BLOCKS = [
    (path, language, text)
    for path in READMES
    for language, text in re.findall(r"^```(\w+)\n(.*?)^```$", path.read_text(), re.M | re.S)
]


def python_blocks():
    """Of each README, one after the other; those of all but the first with the slow tests."""
    for path in READMES:
        found = [text for where, language, text in BLOCKS if (where, language) == (path, "python")]
        marks = [] if path.parent == ROOT else pytest.mark.slow
        if found:
            yield pytest.param(found, id=f"{path.parent.name}-{path.stem}", marks=marks)


EACH = """
import sys
for number, text in enumerate(sys.argv[1:], 1):
    exec(compile(text, f"block {number}", "exec"), {"__name__": "__main__"})
"""


@pytest.mark.compiled  # each is a process of its own
@pytest.mark.parametrize("texts", list(python_blocks()))
def test_python_blocks_run(texts, tmp_path):
    done = run_python("-W", "error", "-c", EACH, *texts, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


# Lines that take long; .ci/run plays them too.
SLOW_LINES = re.compile(r"c4 (leaderboard --place|match)\b|--openings 3\b")


def console_blocks():
    """The commands of each console block, those that are quick, or those that are slow."""
    for number, (path, language, text) in enumerate(BLOCKS):
        lines = [x.removeprefix("$ ").split("#")[0].strip() for x in text.splitlines()]
        slow = [x for x in lines if path.parent != ROOT or SLOW_LINES.search(x)]
        for some, marks in (([x for x in lines if x not in slow], []), (slow, pytest.mark.slow)):
            if language == "console" and some:
                yield pytest.param(some, id=f"{path.parent.name}-{number}", marks=marks)


EACH_LINE = """
import io, shlex, sys
from c4env.evaluation.__main__ import main
for line in sys.argv[1:]:
    sys.stdin = io.StringIO("q\\n")  # a person leaves at once
    name, *arguments = shlex.split(line)
    code = main(arguments)
    assert (name, code) == ("c4", 0), line
"""


@pytest.mark.compiled
@pytest.mark.parametrize("lines", list(console_blocks()))
def test_console_block_runs(lines, tmp_path):
    """In order, in one folder; DIR stands for a run directory."""
    if any("DIR" in line for line in lines):
        lines = ["c4 run random greedy --openings 0 --out DIR", *lines]
    done = run_python("-c", EACH_LINE, *lines, cwd=tmp_path, env=environment(COLUMNS="80"))
    assert done.returncode == 0, done.stderr


PAGES = sorted((ROOT / "docs").glob("**/*.md"))


PAGE = """
import io, json, pathlib, re, shlex, sys
from c4env.evaluation.__main__ import main
scope = {"__name__": "__main__"}
for language, text in json.loads(sys.argv[1]):
    print("#", text, flush=True)
    if language == "python":
        file = re.match(r"# (\\w+[.]py)\\n", text)
        if file:
            pathlib.Path(file[1]).write_text(text)
        else:
            exec(compile(text, "block", "exec"), scope)
    else:
        for line in text.splitlines():
            name, *arguments = shlex.split(line.removeprefix("$ "))
            assert (name, main(arguments)) == ("c4", 0), line
"""


def pages():
    """Of each page with code, its blocks."""
    for path in PAGES:
        found = re.findall(r"^```(python|console)\n(.*?)^```$", path.read_text(), re.M | re.S)
        if found:
            yield pytest.param(found, id=path.stem)


@pytest.mark.compiled
@pytest.mark.slow
@pytest.mark.parametrize("blocks", list(pages()))
def test_a_page_of_the_site_runs_from_top_to_bottom(blocks, tmp_path):
    """In one folder; a Python block that begins with a file's name is written to that file."""
    done = run_python("-c", PAGE, json.dumps(blocks), cwd=tmp_path, env=environment(COLUMNS="80"))
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_set_up_blocks_are_what_ci_runs():
    set_up = [text for _, language, text in BLOCKS if language == "sh"]
    assert len(set_up) == 2
    first, second = set_up
    assert first.strip().endswith("c4 run")
    assert second.strip().endswith("pytest -q -n auto")
    script = (ROOT / ".ci" / "run").read_text()
    assert "block sh 1" in script
    assert "block text 1" in script  # what the first prints
    assert "block sh 2" in script
    for text in set_up:
        subprocess.run(["bash", "-n", "-c", text], check=True)


def test_the_leaderboard_is_the_stored_one():
    table = stored_board().markdown()
    assert (
        put_between_markers((ROOT / "docs/results.md").read_text(), table)
        == (ROOT / "docs/results.md").read_text()
    )
    *rows, note = table.strip().splitlines()
    first = (ROOT / "README.md").read_text().splitlines()
    best = [*rows[:10], note]  # heading, rule and eight agents
    assert [line for line in first if line in best and line] == [line for line in best if line]


def test_the_files_that_ship_are_those_of_the_page_on_provenance():
    page = (ROOT / "docs" / "reference" / "provenance.md").read_text()
    stated = re.findall(r"^\| `(.+)` \| ([\d,]+) \| `([0-9a-f]{64})` \|", page, re.MULTILINE)
    assert len(stated) == 3
    for path, size, digest in stated:
        data = (ROOT / path).read_bytes()
        assert (f"{len(data):,}", hashlib.sha256(data).hexdigest()) == (size, digest)


def test_links_lead_somewhere():
    for path in [*READMES, ROOT / "CONTRIBUTING.md"]:
        for target in re.findall(r"\]\(([^)#]+)\)", path.read_text()):
            there = target.startswith("https://github.com/") or (path.parent / target).exists()
            assert there, (path, target)
