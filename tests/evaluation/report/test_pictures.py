"""The pictures of the README are there, small, and made by the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from c4env import Position
from tests.helpers import pictures
from tests.helpers.paths import ROOT

FOLDER = ROOT / ".github" / "pictures"


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_each_picture_is_there_and_small(name: str) -> None:
    data = (FOLDER / name).read_bytes()
    assert data.startswith(b"\x89PNG" if name.endswith("png") else b"<svg")
    assert len(data) < 150_000


def test_the_position_is_won() -> None:
    outcome = Position.parse(pictures.MOVES).outcome
    assert outcome is not None
    assert outcome.winner == 0


@pytest.mark.slow
def test_they_are_made(tmp_path: Path) -> None:
    pictures.main(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == set(pictures.PICTURES)
    assert (tmp_path / "board.svg").read_bytes() == (FOLDER / "board.svg").read_bytes()
