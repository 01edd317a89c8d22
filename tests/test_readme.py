"""Every code block of every README and of the site runs; the set-up blocks run in .ci/run."""

from __future__ import annotations

import hashlib
import json
import re

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
PAGES = [*READMES, *sorted((ROOT / "docs").glob("**/*.md"))]
SLOW_LINES = re.compile(r"c4 (leaderboard --place|match)\b|--openings 3\b")

RUNNER = """
import importlib.util, io, json, pathlib, re, shlex, sys
from c4env.evaluation.__main__ import main
scope = {"__name__": "__main__"}
for language, text in json.loads(sys.argv[1]):
    print("#", text, flush=True)
    file = re.match(r"# (\\w+[.]py)\\n", text)
    needs = re.match(r"# needs (\\w+)", text)
    if needs and not importlib.util.find_spec(needs[1]):
        print("left out: not installed")
    elif language == "python" and file:
        pathlib.Path(file[1]).write_text(text)
    elif language == "python":
        exec(compile(text, "block", "exec"), scope)
    else:
        for line in text.splitlines():
            sys.stdin = io.StringIO("q\\n")  # a person leaves at once
            name, *arguments = shlex.split(line.removeprefix("$ "), comments=True)
            assert (name, main(arguments)) == ("c4", 0), line
"""


def pages():
    """Of each page with code its blocks; of the README, which is quick, without what is slow."""
    for path in PAGES:
        found = re.findall(r"^```(python|console)\n(.*?)^```$", path.read_text(), re.M | re.S)
        name = str(path.relative_to(ROOT).with_suffix(""))
        code = "".join(text for _, text in found)
        if "DIR" in code and "--out DIR" not in code:
            found.insert(0, ("console", "c4 run random greedy --openings 0 --out DIR"))
        if found and path == ROOT / "README.md":
            quick = [
                (language, "\n".join(x for x in text.splitlines() if not SLOW_LINES.search(x)))
                for language, text in found
            ]
            yield pytest.param(quick, id="README, quick")
        if found:
            yield pytest.param(found, id=name, marks=pytest.mark.slow)


@pytest.mark.compiled
@pytest.mark.parametrize("blocks", list(pages()))
def test_a_page_runs_from_top_to_bottom(blocks, tmp_path):
    """In one folder. A Python block that begins with a file's name is written to that file; one
    that begins with what it needs is left out where that is not installed."""
    text = json.dumps(blocks)
    done = run_python("-c", RUNNER, text, cwd=tmp_path, env=environment(COLUMNS="80"))
    assert done.returncode == 0, done.stdout + done.stderr


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
