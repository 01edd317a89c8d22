"""The pages of the reference are as made, and their links lead somewhere."""

import re

import pytest

import c4env
from c4env import agents, evaluation
from c4env.agents.making.zoo import ZOO
from c4env.evaluation.cli import COMMANDS
from tests.makers import docstrings, reference


@pytest.mark.parametrize("page", reference.PAGES, ids=lambda page: page.stem)
def test_the_lists_of_the_reference_are_as_made(page):
    """After a change of what they list, `python -m tests.makers reference` writes them."""
    assert reference.made(page) == page.read_text(encoding="utf-8")


def test_the_reference_has_every_name_agent_and_command():
    headings = {
        heading for page in reference.PAGES for heading in headings_of(page.read_text("utf-8"))
    }
    for package in (c4env, agents, evaluation):
        for name in dir(package):
            assert {name, f"class {name}"} & headings or name in (
                "agents",
                "errors",
                "evaluation",
                "rewards",
            )
    for name in [*(entry.name for entry in ZOO), *(f"c4 {name}" for name in COMMANDS)]:
        assert name in headings
    for member in ("Agent.choose", "Position.outcome", "Tournament.table", "Tournament.ratings"):
        assert member in headings


def test_an_entry_has_the_arguments_of_the_constructor_and_the_errors():
    text = (docstrings.FOLDER / "environments.md").read_text("utf-8")
    entry = text.partition("### class ConnectFourEnv\n")[2].partition("\n### ")[0]
    assert "\n- `opponent` ([`AnyOpponent`](#anyopponent)): None or" in entry
    assert "\n- [`InvalidOption`](errors.md#class-invalidoption): " in entry
    assert "\n#### ConnectFourEnv.step\n" in entry


def test_every_type_of_a_signature_has_an_entry():
    for path in docstrings.entries():
        for named in docstrings.mentioned(docstrings.found(path)):
            it = docstrings.found(named)
            assert it.canonical_path in docstrings.entries() or not docstrings.is_entry(it)


def test_sections_of_a_docstring_are_told_apart_from_the_text_around_them():
    text = "Says.\n\nMore.\n\nArgs:\n    one: a,\n        b.\n    two, three: c: d.\n\nEnd.\n"
    sections = docstrings.sections_of(text)
    assert [title for title, _ in sections] == ["", "Args", ""]
    assert [said for title, said in sections if not title] == ["Says.\n\nMore.", "End."]
    assert docstrings.items(sections[1][1]) == [("one", "a,\nb."), ("two, three", "c: d.")]


def headings_of(text):
    outside = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    return [heading.replace("\\_", "_") for heading in re.findall(r"^#+ (.+)$", outside, re.M)]
