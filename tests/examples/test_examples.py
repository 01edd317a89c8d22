"""Every page of docs/examples says what it shows, uses public names alone, and has a short test."""

import ast
import importlib
import re
from pathlib import Path

import pytest

from tests.helpers.examples import EXAMPLES

SCRIPTS = sorted(EXAMPLES.glob("*.py"))
PUBLIC = ("c4env", "c4env.agents", "c4env.evaluation", "c4env.envs.text")


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_is_in_the_signpost_and_has_a_test_of_its_own(path):
    assert f"| [{path.name}]({path.name}) |" in (EXAMPLES / "README.md").read_text()
    assert (Path(__file__).parent / f"test_{path.name}").exists()


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_says_how_to_run_it_how_long_it_takes_and_what_it_printed(path):
    told = ast.get_docstring(ast.parse(path.read_text()))
    command = rf"(python|c4) .*docs/examples/{path.name}|PYTHONPATH=docs/examples .*{path.stem} "
    assert re.search(rf"^({command})", told, re.M)
    assert re.search(r"\bNeeds \w", told)
    assert re.search(r"\btook \d+ (second|minute)s?\b", told)
    assert re.search(r"\bprinted\b.*:\n", told)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_uses_only_public_names(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module.partition(".")[0] == "c4env":
            assert node.module in PUBLIC
            public = dir(importlib.import_module(node.module))
            assert {alias.name for alias in node.names} <= {*public}
        elif isinstance(node, ast.Import):
            names = {alias.name for alias in node.names if alias.name.startswith("c4env")}
            assert names <= {"c4env"}
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "c4env":
            assert node.attr in dir(importlib.import_module("c4env"))
