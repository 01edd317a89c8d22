"""Each recipe of CONTRIBUTING.md works, in a copy of the project."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.paths import ROOT

TEXT = (ROOT / "CONTRIBUTING.md").read_text()


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the packages, with every block added to the file it names."""
    copy = tmp_path_factory.mktemp("copy")
    for package in ("c4env", "agents", "evaluation"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / package, copy / package, ignore=ignored)
    blocks = re.findall(r"^```python\n# (\S+)\n(.*?)^```$", TEXT, re.M | re.S)
    assert len(blocks) == 6
    for name, code in blocks:
        with (copy / name).open("a", encoding="utf-8") as file:
            file.write(f"\n\n{code}" if (copy / name).stat().st_size else code)
    return copy


def commands() -> list[str]:
    found = re.findall(r"`c4 ([^`]+)`", TEXT)
    assert len(found) == 5
    return found


@pytest.mark.parametrize("command", commands())
def test_a_recipe_works(changed: Path, tmp_path: Path, command: str) -> None:
    words = command.split() + (["--count", "3"] if command.startswith("heuristics") else [])
    code = f"import sys; from evaluation.__main__ import main; sys.exit(main({words!r}))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(changed), "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    said = {"count 3": "121", "heuristics": "centre"}
    for start, words_expected in said.items():
        if command.startswith(start):
            assert words_expected in done.stdout
