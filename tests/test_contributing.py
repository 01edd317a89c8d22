"""Each recipe of CONTRIBUTING.md works, in a copy of the project."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.helpers.paths import FOLDERS, ROOT
from tests.helpers.processes import environment, run_python

TEXT = (ROOT / "CONTRIBUTING.md").read_text()
BLOCKS = re.findall(r"^```(python|diff)\n# (\S+)\n(.*?)^```$", TEXT, re.M | re.S)


def carried_out(copy: Path) -> None:
    """A copy of packages and tests with every block's change; packages stand where installed."""
    for package, folder in {**FOLDERS, "tests": ROOT / "tests"}.items():
        ignored = shutil.ignore_patterns("__pycache__", "data")
        shutil.copytree(folder, copy.joinpath(*package.split(".")), ignore=ignored)
    assert [language for language, _, _ in BLOCKS].count("diff") == 6
    assert len(BLOCKS) == 10
    for language, name, text in BLOCKS:
        path = copy / ("" if name.startswith(("c4env/", "tests/")) else "c4env") / name
        before = path.read_text() if path.exists() else ""
        if language == "python":
            after = f"{before}\n\n{text}" if before else text
        else:
            lines = text.splitlines(keepends=True)
            old = "".join(line[1:] for line in lines if line[0] != "+")
            new = "".join(line[1:] for line in lines if line[0] != "-")
            assert before.count(old) == 1, (name, old)
            after = before.replace(old, new)
        path.write_text(after, encoding="utf-8")


EACH = """
import shlex, sys
from c4env.evaluation.__main__ import main
for command in sys.argv[1:]:
    print("$", command, flush=True)
    assert main(shlex.split(command)) == 0
"""


@pytest.mark.slow
def test_the_recipes_work(tmp_path: Path) -> None:
    carried_out(tmp_path / "copy")
    commands = re.findall(r"`c4 ([^`]+)`", TEXT.split("## Add a heuristic")[1])
    assert len(commands) == 5
    few = [c + " --count 3" if "--heuristics" in c else c for c in commands]
    there = environment(PYTHONPATH=str(tmp_path / "copy"), NUMBA_DISABLE_JIT="1")
    done = run_python("-c", EACH, *few, cwd=tmp_path, env=there)
    assert done.returncode == 0, done.stdout + done.stderr
    said = dict(part.split("\n", 1) for part in done.stdout.split("$ ")[1:])
    assert "121" in next(said[command] for command in said if command.startswith("count 3"))
    assert "centre" in next(said[command] for command in said if "--heuristics" in command)

    which = ["tests/agents/heuristics/test_names.py", "tests/agents/test_leftmost.py"]
    chosen = ["-k", "centre or leftmost or under_their_names"]
    options = ["-q", "-n", "0", "-p", "no:cacheprovider", *chosen]
    done = run_python("-m", "pytest", *which, *options, cwd=tmp_path / "copy", env=there)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\b[6-9] passed", done.stdout), done.stdout
