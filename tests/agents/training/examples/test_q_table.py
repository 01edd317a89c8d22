"""The table learns, its error is measured against the truth, and a picture of it is drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from c4env.agents.training.examples import q_table
from c4env.boards import Size
from c4env.jit import config

BOARD = Size(2, 4, 3) if config.DISABLE_JIT else q_table.BOARD


def test_the_error_falls_and_is_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(q_table, "BOARD", BOARD)
    picture = tmp_path / "error.png"
    first = q_table.train(picture, steps=0)
    assert q_table.train(picture, steps=300, boards=64) < first
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_truth_has_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(q_table, "BOARD", BOARD)
    truth = q_table.Truth()
    known = np.nan_to_num(truth.values)
    assert truth.errors(known) == (0.0, 0.0)
    assert truth.errors(-known)[0] > 0.2
