import re

import pytest

from c4env.evaluation.report import page as report
from c4env.evaluation.report import plots
from tests.evaluation.test_report import GAMES, crowded
from tests.helpers.runs import rated, run_of

pytest.importorskip("matplotlib", reason="figures need matplotlib")

FOUND = report.contents(run_of(GAMES), rated(GAMES, ["one", "two"]))


@pytest.mark.slow
def test_each_figure_is_written_in_three_forms(tmp_path):
    written = plots.write_plots(tmp_path / "figures", FOUND)
    assert {path.stem for path in written} == set(plots.FIGURES)
    for path in written:
        data = path.read_bytes()
        assert data.startswith({".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}[path.suffix])
    svg = (tmp_path / "figures" / "strength.svg").read_text()
    assert ">one  " in svg  # names are text
    again = plots.write_plots(tmp_path / "again", FOUND)
    assert [p.read_bytes() for p in written] == [p.read_bytes() for p in again]


def texts_of(figure, monkeypatch):
    """What a figure says, and where, in pixels."""
    from matplotlib.text import Text

    drawn = {}  # ticks beyond their axis exist, but are not drawn
    draw = Text.draw

    def recorded(text, renderer):
        if text.get_text() and text.get_visible():
            drawn[text] = None
        draw(text, renderer)

    monkeypatch.setattr(Text, "draw", recorded)
    figure.draw_without_rendering()
    return [(text.get_text(), Text.get_window_extent(text)) for text in drawn]


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 7, 21])
def test_no_text_covers_another_or_leaves_its_figure(count, monkeypatch):
    found = {**crowded(count), "title": "A run with a long name, " * 8}
    drawn = dict(plots.figures(found))
    assert list(drawn) == list(plots.FIGURES)
    for name, figure in drawn.items():
        texts = texts_of(figure, monkeypatch)
        for i, (words, box) in enumerate(texts):
            inside = box.x0 >= -1 and box.x1 <= figure.bbox.x1 + 1
            assert inside, (name, words)
            assert box.y0 >= -1, (name, words)
            assert box.y1 <= figure.bbox.y1 + 1, (name, words)
            for other, there in texts[i + 1 :]:
                across = min(box.x1, there.x1) - max(box.x0, there.x0)
                along = min(box.y1, there.y1) - max(box.y0, there.y0)
                assert across <= 1 or along <= 1, (name, words, other)
        games = len(found["games"])
        run = rf"A run with a long name.*\.\.\.: {games} games, digest {found['digest']}"
        assert sum(bool(re.fullmatch(run, words)) for words, _ in texts) == 1


def test_intervals_reach_from_their_low_to_their_high_end_on_a_signed_axis():
    figure = dict(plots.figures(FOUND))["strength"]
    (bars,) = figure.axes[0].containers
    drawn = [end[0] for ends in bars[2][0].get_segments() for end in ends]
    assert drawn == pytest.approx([end for rating in FOUND["ratings"] for end in rating[1:3]])
    figure.draw_without_rendering()
    ticks = {tick.get_text() for tick in figure.axes[0].get_xticklabels()} - {"0"}
    assert ticks
    assert {words[0] for words in ticks} == {"+", "\N{MINUS SIGN}"}


def test_the_win_table_shows_the_percent_of_the_points():
    cells = [[[0, 0, 0], [2, 1, 5]], [[3, 0, 1], [0, 0, 0]]]
    axes = dict(plots.figures({**FOUND, "cells": cells}))["win-table"].axes[0]
    shown = {text.get_position(): text.get_text() for text in axes.texts}
    assert shown == {(1, 0): "31", (0, 1): "75"}
