from __future__ import annotations

import sys
from pathlib import Path

import pytest

from c4env.errors import MissingExtra
from evaluation.report import page as report
from evaluation.report import plots
from evaluation.strength.ratings import rate
from evaluation.truth.judge import Judge
from tests.evaluation.report.test_summary import GAMES

RATINGS = rate(GAMES, ["one", "two"])


def test_each_figure_is_written_twice(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="figures need matplotlib")
    with Judge() as judge:
        found = report.contents({}, GAMES, RATINGS, judge)
    written = plots.write_plots(tmp_path / "figures", found)
    assert {path.stem for path in written} == set(plots.FIGURES)
    for path in written:
        data = path.read_bytes()
        assert data.startswith(b"\x89PNG" if path.suffix == ".png" else b"<?xml")
    svg = (tmp_path / "figures" / "elo.svg").read_text()
    assert ">one<" in svg  # names are text
    again = plots.write_plots(tmp_path / "again", found)
    assert [p.read_bytes() for p in written] == [p.read_bytes() for p in again]


def test_without_scores_there_is_no_blunder_figure(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="figures need matplotlib")
    found = report.contents({}, GAMES, RATINGS)
    written = plots.write_plots(tmp_path, found)
    assert {path.stem for path in written} == set(plots.FIGURES) - {"blunders"}


def test_without_matplotlib_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"c4env\[plots\]"):
        plots.write_plots(tmp_path, {})
