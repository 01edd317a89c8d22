"""What the packages' types say to their users' checkers."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.paths import ROOT

MOST_IGNORED = 8


@pytest.mark.slow
def test_a_users_file_passes_strictly(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    subprocess.run([ROOT / ".ci/farm", tmp_path], check=True)
    check = ["--strict", "--follow-imports=silent", "tests/typing_usage.py"]
    found = subprocess.run(
        [sys.executable, "-m", "mypy", *check], cwd=tmp_path, capture_output=True, text=True
    )
    assert (found.returncode, found.stderr) == (0, ""), found.stdout


def test_few_types_are_ignored_and_each_says_why() -> None:
    lines = [
        line
        for package in ("c4env", "agents", "evaluation")
        for path in (ROOT / package).rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if "# type: ignore" in line
    ]
    assert len(lines) <= MOST_IGNORED, "\n".join(lines)
    for line in lines:
        assert re.search(r"# type: ignore\[[\w, -]+\]  # \w", line), line
