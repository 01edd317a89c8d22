"""The recipes of CONTRIBUTING.md, applied to a copy of the checkout, pass its quick tests."""

import re
import shlex
import shutil

import pytest

from tests.helpers.paths import ROOT
from tests.helpers.processes import environment, run_python

TEXT = (ROOT / "CONTRIBUTING.md").read_text()
BLOCKS = re.findall(r"^```(python|diff)\n# (\S+)\n(.*?)^```$", TEXT, re.M | re.S)

# c4env is imported from this folder, whatever is installed.
IMPORTS = """
import importlib.util, pathlib, sys
here = pathlib.Path(__file__).parent
class Here:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name in ("c4env.agents", "c4env.evaluation"):
            folder = here / name.partition(".")[2]
            return importlib.util.spec_from_file_location(
                name, folder / "__init__.py", submodule_search_locations=[str(folder)]
            )
sys.meta_path.insert(0, Here)
"""


def carried_out(copy):
    """A copy of the checkout, which need not be a repository of Git, with every block's change."""
    left_out = shutil.ignore_patterns(".git", ".venv", ".*_cache", "__pycache__", "build", "c4-*")
    shutil.copytree(ROOT, copy, ignore=left_out, dirs_exist_ok=True)
    (copy / "sitecustomize.py").write_text(IMPORTS)
    for language, name, text in BLOCKS:
        path = copy / name
        before = path.read_text() if path.exists() else ""
        if language == "python":
            after = f"{before}\n\n{text}" if before else text
        else:
            lines = text.splitlines(keepends=True)
            old = "".join(line[1:] for line in lines if line[0] != "+")
            new = "".join(line[1:] for line in lines if line[0] != "-")
            assert before.count(old) == 1, (name, old)
            after = before.replace(old, new)
        path.write_text(after)


@pytest.mark.slow
def test_the_recipes_pass_the_tests(tmp_path):
    carried_out(tmp_path)
    there = environment(PYTHONPATH=str(tmp_path))
    _, _, recipes = TEXT.partition("\n## Recipes\n")
    commands = re.findall(r"`c4 ([^`]+)`", recipes)
    assert len(commands) == 5
    for command in commands:
        done = run_python("-m", "c4env.evaluation", *shlex.split(command), cwd=tmp_path, env=there)
        assert done.returncode == 0, done.stdout + done.stderr
        if command.startswith("count"):
            assert done.stdout == "121\n"
    suite = ["-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider"]
    done = run_python(*suite, cwd=tmp_path, env=there)
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr
