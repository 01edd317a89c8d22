"""Every code block of every README and of the site runs; the set-up blocks run in .ci/run."""

import hashlib
import json
import math
import re
import tomllib

import pytest

from c4env import evaluation
from c4env.evaluation.results.leaderboard import stored_board
from tests.helpers.paths import ROOT
from tests.helpers.processes import environment, run_python, with_python
from tests.makers import accuracy

READMES = [
    *sorted(set(ROOT.glob("*.md")) - {ROOT / "CONTRIBUTING.md"}),  # blocks of files
    *sorted(
        p for folder in ("c4env", "agents", "evaluation") for p in ROOT.glob(f"{folder}/**/*.md")
    ),
]
PAGES = [*READMES, *sorted((ROOT / "docs").glob("**/*.md"))]
NEEDS = re.compile(r"# needs ([\w.]+)\n")  # the module without which a block cannot run

RUNNER = """
import contextlib, io, json, pathlib, re, subprocess, sys
import c4env.system
c4env.system.usable_cores = lambda: 1  # pages run side by side: no command starts workers
from c4env.evaluation.__main__ import main
scope = {"__name__": "__main__"}
for language, text in json.loads(sys.argv[1]):
    print("#", text, flush=True)
    file = re.match(r"# (\\w+[.]py)\\n", text)
    if language == "python" and file:
        pathlib.Path(file[1]).write_text(text)
    elif language == "python":
        exec(compile(text, "block", "exec"), scope)
    else:
        for command in re.split(r"^[$] ", text.replace("\\\\\\n", ""), flags=re.M)[1:]:
            line, _, shown = command.partition("\\n")
            sys.stdin = io.StringIO("q\\n")  # a person leaves at once
            words = subprocess.check_output(["bash", "-c", "printf '%s;;' " + line], text=True)
            name, *arguments = words.removesuffix(";;").split(";;")  # as a shell reads the line
            with contextlib.redirect_stdout(io.StringIO()) as output:
                assert (name, main(arguments)) == ("c4", 0), line
            print(output.getvalue())
            words = [".*?" if word == "..." else re.escape(word) for word in shown.split()]
            pattern = r"(?s)\\s*" + r"\\s+".join(words) + r"\\s*"
            assert not words or re.fullmatch(pattern, output.getvalue()), (line, shown)
"""


def pages():
    """Of each page with code its blocks; those of the README are quick."""
    for path in PAGES:
        blocks = re.findall(r"^```(python|console)\n(.*?)^```$", path.read_text(), re.M | re.S)
        items = [(language, text) for language, text in blocks if not NEEDS.match(text)]
        marks = [] if path == ROOT / "README.md" else pytest.mark.slow
        if items:
            name = str(path.relative_to(ROOT).with_suffix(""))
            yield pytest.param(items, id=name, marks=marks)


@pytest.mark.compiled
@pytest.mark.parametrize("blocks", list(pages()))
def test_a_page_runs_from_top_to_bottom(blocks, tmp_path):
    """In one folder; a Python block that begins with a file's name is written to that file.

    Below a command a page may show its output; ``...`` stands for what is left out.
    """
    text = json.dumps(blocks)
    there = environment(COLUMNS="80", PATH=with_python())
    done = run_python("-c", RUNNER, text, cwd=tmp_path, env=there)
    assert done.returncode == 0, done.stdout + done.stderr


def blocks_of_libraries():
    """Each block that begins with the name of a module."""
    for path in PAGES:
        for text in re.findall(r"^```python\n(.*?)^```$", path.read_text(), re.M | re.S):
            if needed := NEEDS.match(text):
                yield pytest.param(needed[1], text, id=needed[1])


@pytest.mark.compiled
@pytest.mark.slow
@pytest.mark.parametrize(("module", "text"), list(blocks_of_libraries()))
def test_a_block_of_a_library_runs(module, text, tmp_path):
    pytest.importorskip(module, exc_type=ImportError)
    here = environment(MINARI_DATASETS_PATH=str(tmp_path))
    done = run_python("-c", text, cwd=tmp_path, env=here)
    assert done.returncode == 0, done.stderr


def test_the_leaderboard_is_the_stored_one():
    page = (ROOT / "docs" / "results.md").read_text()
    board = stored_board().markdown()
    assert board in page
    rated = {row[2]: (row[4], row[6]) for row in rows_of(board)}
    _, _, shares = page.partition("| agent | accuracy |")
    examined = {row[1]: row[2].split()[0] for row in rows_of(shares)}
    _, _, strength = (ROOT / "README.md").read_text().partition("| agent | Elo (95 %) |")
    assert len(rows_of(strength)) == 7
    for _, agent, elo, exam, milliseconds, _ in rows_of(strength):
        name = agent.partition(":")[0]
        assert ((elo, milliseconds), exam) == (rated[name], examined[name]), name


@pytest.mark.compiled
@pytest.mark.slow
@pytest.mark.parametrize("spec", [s for s in accuracy.agents() if s not in accuracy.LONG])
def test_the_accuracy_in_the_exam_has_not_changed(spec):
    found = evaluation.quality(spec, jobs=1)
    for page in accuracy.PAGES:
        assert accuracy.made(page, spec, found) == page.read_text(encoding="utf-8")


def test_speed_is_said_as_the_benchmarks_showed_it():
    """The README's ratios are the tables' lowest and highest, rounded down to one digit; that of
    the AEC loop is the table's.
    """
    loops = cells_of("docs/explanation/speed.md", "| loop |")
    sets = cells_of("docs/explanation/speed.md", "| set |")
    self_play = [number(ratio) for name, *_, ratio in loops if "boards, self-play" in name]
    (aec,) = [number(ratio) for name, *_, ratio in loops if name == "AEC loop"]
    alone = [row for row in sets if "books" not in row[0]]
    assert (alone[0][0], alone[-1][0]) == ("12 discs", "30 discs")
    one, many = ([number(row[column]) for row in alone] for column in (5, 7))
    measured = [min(self_play), aec, min(many), min(one), max(one)]
    stated = re.search(
        r"4,096 boards costs at least ([\d,]+) times less .* loop runs ([\d.]+) times as fast on .*"
        r"12 to 30 discs without books.* at least (\d) times as fast as BitBully in batches, "
        r"and (\d) to (\d) times as fast for single positions",
        " ".join((ROOT / "README.md").read_text().split()),
    )
    for message, ratio in zip(map(number, stated.groups()), measured, strict=True):
        digit = 10 ** int(math.log10(ratio))
        assert message in (ratio, ratio // digit * digit)


def number(text):
    return float(text.replace(",", ""))


def cells_of(page, heading):
    """The rows of the table on a page that begins with a heading."""
    _, _, table = (ROOT / page).read_text().partition(heading)
    lines = table.partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def rows_of(text):
    """The cells of each row that has a spec, up to the first empty line."""
    lines = text.partition("\n\n")[0].splitlines()
    rows = [[cell.strip() for cell in line.split("|")] for line in lines]
    return [row for row in rows if any(cell.startswith("`") for cell in row)]


def test_the_files_that_ship_are_those_of_the_page():
    page = (ROOT / "docs" / "explanation" / "network.md").read_text()
    stated = re.findall(r"^\| `(.+)` \| ([\d,]+) \| `([0-9a-f]{64})` \|", page, re.MULTILINE)
    assert len(stated) == 3
    for path, size, digest in stated:
        data = (ROOT / path).read_bytes()
        assert (f"{len(data):,}", hashlib.sha256(data).hexdigest()) == (size, digest)


def test_the_files_of_a_release_agree_on_version_and_date():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    cited = (ROOT / "CITATION.cff").read_text()
    date = re.search(r'^date-released: "([\d-]+)"$', cited, re.MULTILINE)[1]
    assert f"\nversion: {version}\n" in cited
    assert f"version = {{{version}}}" in (ROOT / "docs" / "about.md").read_text()
    headings = re.findall("^## (.*)", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert next(h for h in headings if h != "Unreleased") == f"{version} ({date})"
