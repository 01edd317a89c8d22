"""Small runs for tests that read one."""

from __future__ import annotations

from pathlib import Path

from evaluation.__main__ import main


def record_run(folder: Path, *specs: str, seed: int = 0) -> Path:
    """A run directory of these agents over the openings of one ply; ``folder`` itself."""
    options = ["--openings", "1", "--seed", str(seed), "--jobs", "1", "--quiet"]
    assert main(["run", *specs, *options, "--out", str(folder)]) == 0
    return folder
