"""The recipes of CONTRIBUTING.md, applied to a copy of the checkout, pass the quick tests there."""

import hashlib
import re
import shlex
import shutil
from pathlib import Path

import pytest

from c4env.jit import cache_folder
from tests.helpers.paths import ROOT, modules
from tests.helpers.processes import environment, run_python

TEXT = (ROOT / "CONTRIBUTING.md").read_text()
BLOCKS = re.findall(r"^```(python|diff)\n# (\S+)\n(.*?)^```$", TEXT, re.M | re.S)

READING_TABLES = [  # of agents, heuristics and commands; no recipe reaches other tests
    f"tests/{name}.py"
    for name in (
        *("test_architecture", "test_public_names", "agents/test_base", "agents/test_descriptions"),
        *("agents/test_every_agent", "agents/test_heuristics", "agents/test_kinds"),
        *("agents/test_leftmost", "agents/test_registry", "agents/test_search"),
        *("evaluation/test_every_command", "evaluation/test_family", "evaluation/test_quality"),
        "evaluation/test_web",
    )
]


def carried_out(copy):
    """A copy of the checkout, which need not be a repository of Git, with every block's change."""
    left_out = shutil.ignore_patterns(".git", ".venv", ".*_cache", "__pycache__", "build", "c4-*")
    shutil.copytree(ROOT, copy, symlinks=True, ignore=left_out, dirs_exist_ok=True)
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


def give_machine_code(copy, there):
    """Kernels that the recipes leave as they are need not be compiled again.

    Numba's folder of a source has the name of its folder and the hash of that folder's path.
    """
    script = "from c4env.jit import cache_folder; print(cache_folder())"
    new = Path(run_python("-c", script, cwd=copy, env=there, check=True).stdout.strip())
    folders = {path.parent for path in modules().values()}
    for board in cache_folder().iterdir():
        for folder in folders:
            own, others = (
                f"{folder.name}_{hashlib.sha1(str(place).encode()).hexdigest()}"
                for place in (folder, copy / folder.relative_to(ROOT))
            )
            if (board / own).is_dir():
                shutil.copytree(board / own, new / board.name / others, dirs_exist_ok=True)


@pytest.mark.slow
def test_the_recipes_pass_the_tests(tmp_path):
    carried_out(tmp_path)
    there = environment(PYTHONPATH=str(tmp_path))
    give_machine_code(tmp_path, there)
    _, _, recipes = TEXT.partition("\n## Recipes\n")
    commands = re.findall(r"`c4 ([^`]+)`", recipes)
    assert len(commands) == 5
    for command in commands:
        done = run_python("-m", "c4env.evaluation", *shlex.split(command), cwd=tmp_path, env=there)
        assert done.returncode == 0, done.stdout + done.stderr
        if command.startswith("count"):
            assert done.stdout == "121\n"
    suite = ["-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", *READING_TABLES]
    done = run_python(*suite, cwd=tmp_path, env=there)
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr
