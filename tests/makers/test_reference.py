"""The lists of agents and commands are as made."""

import re

import pytest

from c4env.agents.making.registry import ZOO
from c4env.evaluation.cli import COMMANDS
from docs.entries import NAMES, ROW
from tests.makers import reference


@pytest.mark.parametrize("page", reference.PAGES, ids=lambda page: page.stem)
def test_the_lists_of_the_reference_are_as_made(page):
    """After a change of what they list, `python -m tests.makers reference` writes them."""
    assert reference.made(page) == page.read_text(encoding="utf-8")


def test_the_lists_have_every_agent_and_command():
    text = "\n".join(page.read_text(encoding="utf-8") for page in reference.PAGES)
    headings = set(re.findall(r"^### (.+)$", text, re.M))
    assert {*(entry.name for entry in ZOO), *(f"c4 {name}" for name in COMMANDS)} <= headings


def test_every_name_of_the_reference_has_a_line():
    """The first sentence of its docstring, or for a constant a text in the page."""
    pages = [page.read_text(encoding="utf-8") for page in reference.PAGES]
    rows = [row for page in pages for text in NAMES.findall(page) for row in ROW.findall(text)]
    assert len(rows) > 100
    assert [name for name, said in rows if not said] == []
