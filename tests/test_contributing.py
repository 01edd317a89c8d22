"""Each recipe of CONTRIBUTING.md works, in a copy of the project."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from tests.helpers.paths import FOLDERS, ROOT
from tests.helpers.processes import environment, run_python

TEXT = (ROOT / "CONTRIBUTING.md").read_text()


def changed(copy: Path) -> None:
    """A copy of the packages, with every block added to the file it names."""
    for package, folder in FOLDERS.items():
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(folder, copy.joinpath(*package.split(".")), ignore=ignored)
    blocks = re.findall(r"^```python\n# (\S+)\n(.*?)^```$", TEXT, re.M | re.S)
    assert len(blocks) == 6
    for name, code in blocks:
        path = copy / ("" if name.startswith("c4env/") else "c4env") / name  # as it is installed
        with path.open("a", encoding="utf-8") as file:
            file.write(f"\n\n{code}" if path.stat().st_size else code)


EACH = """
import shlex, sys
from c4env.evaluation.__main__ import main
for command in sys.argv[1:]:
    print("$", command, flush=True)
    assert main(shlex.split(command)) == 0
"""


def test_the_recipes_work(tmp_path: Path) -> None:
    changed(tmp_path / "copy")
    commands = re.findall(r"`c4 ([^`]+)`", TEXT)
    assert len(commands) == 5
    few = [c + " --count 3" if "--heuristics" in c else c for c in commands]
    there = environment(PYTHONPATH=str(tmp_path / "copy"), NUMBA_DISABLE_JIT="1")
    done = run_python("-c", EACH, *few, cwd=tmp_path, env=there)
    assert done.returncode == 0, done.stdout + done.stderr
    said = dict(part.split("\n", 1) for part in done.stdout.split("$ ")[1:])
    assert "121" in next(said[command] for command in said if command.startswith("count 3"))
    assert "centre" in next(said[command] for command in said if "--heuristics" in command)
