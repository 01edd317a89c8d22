"""The pages show what their commands print."""

import pytest

from tests.makers import outputs

QUICK = ("command-line", "glossary")


def pages():
    for page in outputs.PAGES:
        marks = [] if page.stem in QUICK else pytest.mark.slow
        yield pytest.param(page, id=page.stem, marks=marks)


@pytest.mark.compiled
@pytest.mark.parametrize("page", list(pages()))
def test_a_page_shows_what_its_commands_print(page):
    """After a change of an output, `python -m tests.makers outputs` writes it."""
    assert outputs.made(page) == page.read_text("utf-8")


def test_every_command_with_an_output_shows_it():
    (page,) = (page for page in outputs.PAGES if page.stem == "command-line")
    parts = outputs.PARTS.finditer(page.read_text("utf-8"))
    shown = [found["commands"] or "" for found in parts]
    for name in (
        *("run", "match", "leaderboard", "solve", "quality", "refute"),
        *("report", "list", "play", "check", "data"),
    ):
        assert any(commands.startswith(f"$ c4 {name} ") for commands in shown), name


def test_an_output_with_other_times_stays_and_another_output_is_written(tmp_path):
    page = tmp_path / "page.md"
    commands = "```console\n$ c4 list greedy\n$ c4 solve 44\n```\n\n"
    text = commands + "<!-- made: output{} -->\n{}<!-- end -->\n"
    page.write_text(text.format(" list", "old\n"))
    assert "greedy  " in outputs.made(page)
    assert "old" not in outputs.made(page)
    page.write_text(text.format(" 1", ""))
    assert outputs.made(page).count("\n$ c4 ") == 4  # two in either block
    table = "agent  Elo    ms\nrandom   1  {}\ngreedy   2  0.1\n\n{} games"
    assert outputs.timeless(table.format("0.25", 3)) == outputs.timeless(table.format("  9", 3))
    assert outputs.timeless(table.format("0.25", 3)) != outputs.timeless(table.format("0.25", 4))
