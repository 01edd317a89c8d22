"""What the documents promise: every page is found, every link and command is accepted."""

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import c4env
from c4env import agents, evaluation
from c4env.agents.base import SearchingAgent
from c4env.agents.graded_elo import ANCHOR_ELO, ELO_LEVELS
from c4env.envs.registration import AEC_ID, SELF_PLAY_ID, SINGLE_ID
from c4env.evaluation.__main__ import main
from c4env.evaluation.cli import COMMANDS, module_of
from c4env.evaluation.cli.declare import Parser
from c4env.evaluation.ratings.power import shown_difference
from c4env.evaluation.ratings.sprt import expected_score
from c4env.evaluation.results.tournament import Tournament
from docs import entries
from tests import test_readme
from tests.helpers.paths import ROOT

DOCS, README = ROOT / "docs", ROOT / "README.md"
PAGES = [*test_readme.PAGES, ROOT / "CONTRIBUTING.md"]
INDEX = DOCS / "index.md"
PAGES_OF_THE_SITE = {*DOCS.glob("**/*.md"), *DOCS.glob("notebooks/*.ipynb")} - {INDEX}
MADE = re.compile(r"^<!-- made.*?^<!-- end -->", re.M | re.S)
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)]+))?\)")
FENCE = re.compile(r"^```(\{?[\w-]*\}?)\n(.*?)^```$", re.M | re.S)


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def without_code(text: str) -> str:
    return FENCE.sub("", text)


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as GitHub and the site make them."""
    headings = re.findall(r"^#+ (.+)$", without_code(text), re.M)
    plain = [re.sub(r"\[(.*?)\]\(.*?\)", r"\1", heading).lower() for heading in headings]
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in plain}


def links(page):
    """The files that a page links to, and the anchor, or None."""
    for target, anchor in LINK.findall(without_code(read(page))):
        yield (page.parent / target).resolve() if target else page, anchor or None


def test_links_and_anchors_lead_somewhere():
    dead = []
    for page in PAGES:
        for path, anchor in links(page):
            if not path.exists():
                dead.append((page.name, str(path)))
            elif anchor and path.suffix == ".md" and anchor not in anchors(read(path)):
                dead.append((page.name, f"{path.name}#{anchor}"))
    assert dead == []


def test_the_index_leads_to_every_page():
    """By a link in its text, also where a site shows the file as it is."""
    linked = {path for path, _ in links(INDEX)}
    assert PAGES_OF_THE_SITE - linked == set()
    scripts = {path for path, _ in links(DOCS / "examples" / "README.md")}
    assert {*DOCS.glob("examples/*.py")} - scripts == set()


def test_the_readme_the_index_and_the_sidebar_have_the_same_sections():
    """The site makes its sidebar from the index; the README names some pages of each section."""
    sidebar = entries.sidebar()
    pages = {ROOT / page for listed in sidebar.values() for page in listed}
    assert {path.with_suffix("") for path in PAGES_OF_THE_SITE} - pages == set()
    _, _, rest = read(README).partition("| section | pages |\n|---|---|\n")
    rows = re.findall(r"^\| ([\w ]+) \| (.+) \|$", rest.partition("\n\n")[0], re.M)
    assert [caption for caption, _ in rows] == [*sidebar]
    for caption, cell in rows:
        named = {target.removesuffix(".md") for target, _ in LINK.findall(cell)}
        assert named <= {*sidebar[caption]}, caption


def whole_lines(block: str) -> list[str]:
    """The lines of a block, those that a backslash continues in one."""
    return block.replace("\\\n", "").splitlines()


def commands() -> Iterator[object]:
    """Every ``c4`` command of the pages: in blocks, and in the text."""
    seen = set()
    for page in PAGES:
        text = MADE.sub("", read(page))
        lines = [line for _, block in FENCE.findall(text) for line in whole_lines(block)]
        whole = [result[1] for line in lines if (result := re.search(r"\$ (c4 .*)", line))]
        for line in [*whole, *re.findall(r"`(c4 [^`]+)`", without_code(text))]:
            if line not in seen:
                seen.add(line)
                yield pytest.param(line, id=f"{page.stem}: {line}")


def words_of(line: str) -> list[str]:
    """A command as bash reads it."""
    shown = subprocess.check_output(["bash", "-c", f"printf '%s\\n' {line}"], text=True)
    return shown.splitlines()


def parser_of(name: str) -> Parser:
    module = module_of(name)
    parser = Parser(prog=f"c4 {name}", description=module.__doc__)
    module.configure(parser)
    return parser


@pytest.mark.parametrize("line", list(commands()))
def test_a_command_of_a_page_is_accepted(line):
    """Words in the text that name only an option, such as ``c4 match --sprt``, need no more."""
    _, name, *words = words_of(line.replace("[", "").replace("]", ""))
    if name in ("help", "COMMAND"):
        return
    if name not in COMMANDS:  # a command that CONTRIBUTING.md adds
        assert f"cli/c4_{name}.py" in read(ROOT / "CONTRIBUTING.md")
        return
    parser = parser_of(name)
    if all(word.startswith("--") for word in words):
        known = {option for action in parser._actions for option in action.option_strings}
        assert set(words) <= known
    else:
        parser.parse_args(words)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_help_says_nothing_of_python(name):
    assert not re.search(r"\bNone\b|\blambda\b", parser_of(name).format_help())


def test_the_list_of_agents_says_nothing_of_python():
    assert not any(re.search(r"\bNone\b", agents.describe(name)) for name in agents.names())


SHORTER = {
    "quality": "--count 5 --quiet",
    "refute": "--openings 0 --positions 2 --quiet",
    "run": "--limit 1 --quiet",
    "leaderboard": "",
}


def commands_of_results() -> Iterator[Any]:
    """The title and the first command of each table of the page of results."""
    for section in read(DOCS / "results.md").split("\n## ")[1:]:
        title, _, text = section.partition("\n")
        if "\n| " in text:
            result = re.search(r"`((?:c4|python -m tests\.\w+) [^`]+)`", text)
            line = result[1] if result else ""
            yield pytest.param(title, line, marks=pytest.mark.slow if "{" in line else ())


@pytest.mark.parametrize(("title", "line"), list(commands_of_results()))
def test_each_table_of_results_names_a_command_that_runs(title, line, capsys):
    if line.startswith("python -m tests."):
        package, name = line.split()[2:4]
        assert ROOT.joinpath(*package.split("."), f"{name}.py").exists()
        return
    _, name, *words = words_of(line.replace("SPEC", "random").replace("FILE", "exam"))
    shorter = SHORTER[name].split()
    for option in {*shorter} & {*words} - {"--quiet"}:  # an option is given once
        del words[(place := words.index(option)) : place + 2]
    assert main([name, *words, *shorter]) == 0, capsys.readouterr().err


@pytest.mark.slow
def test_the_table_of_heuristics_is_what_its_command_prints(capsys):
    line = dict(case.values for case in commands_of_results())["Heuristics without search"]
    assert main([*words_of(line)[1:], "--quiet", "--format", "markdown"]) == 0
    rows = [row for row in capsys.readouterr().out.splitlines() if row.startswith("| ")][2:]
    assert rows
    assert "\n".join(rows) in read(DOCS / "results.md")


@pytest.mark.parametrize("page", sorted(DOCS.glob("notebooks/*.ipynb")), ids=lambda page: page.stem)
def test_a_notebook_keeps_its_outputs(page):
    """As someone sees it who does not run it; the site runs it again.

    After a change: ``jupyter nbconvert --to notebook --execute --inplace FILE`` in a copy of the
    folder, and without the text of an output that has a table as well.
    """
    assert page.stat().st_size < 200_000
    cells = json.loads(read(page))["cells"]
    kinds = {output["output_type"] for cell in cells for output in cell.get("outputs", ())}
    assert "display_data" in kinds
    assert "error" not in kinds
    text = "".join(line for cell in cells for line in cell["source"])
    for target in re.findall(r"\]\((?!https?:)([^)#\s]+)", text):
        assert (page.parent / target).exists(), target


def test_the_first_screens_of_the_readme():
    """Short enough to be read, and with the words that people look for."""
    text = read(README)
    assert len(text.split()) <= 1100
    first, result, _ = text.partition("\n## ")
    assert result
    for word in ("heuristic", "compare", "PyTorch", "GPU", "Stable-Baselines3", "```console\n$ c4"):
        assert word in first, word


def test_the_differences_that_a_match_shows_are_those_of_the_program():
    text = read(DOCS / "guides" / "which-is-better.md")
    rows = re.findall(r"^\| `(\d)`.*\| ([\d,]+) \| (\d+), or (\d+) %", text, re.M)
    assert [int(plies) for plies, *_ in rows] == [2, 3, 4]
    for plies, games, elo, points in rows:
        openings = len(c4env.list_openings(int(plies)))
        shown = shown_difference(openings)
        said = int(games.replace(",", "")), int(elo), int(points)
        assert said == (2 * openings, round(shown), round(100 * expected_score(shown)))


def test_graded_is_said_on_the_scale_of_its_levels():
    stated = re.search(
        r"from (-\d+) \(`random`\) to (\d+) \(`perfect`\).* systems is\s+(-\d+)",
        read(DOCS / "reference" / "built-in-agents.md"),
        re.S,
    )
    ends = round(ELO_LEVELS[0]), round(ELO_LEVELS[-1]), round(ANCHOR_ELO)
    assert tuple(map(int, stated.groups())) == ends


def test_what_is_stable_exists():
    text = read(DOCS / "about.md")
    homes = {"agents": [agents], "evaluation": [evaluation]}
    others = [c4env, agents, agents.Agent, SearchingAgent, Tournament]
    for name in re.findall(r"`([\w.]+)`", text.partition("### What one may build on")[2]):
        first, _, last = name.rpartition(".")
        known = {field.name for field in fields(Tournament)}
        known.update(*map(dir, homes.get(first, others)))
        assert last in known, name
    ids = {SINGLE_ID, SELF_PLAY_ID, AEC_ID}
    assert set(re.findall(r"`(c4env/[\w-]+)`", text)) == ids
