import csv
import io
import json
import re

import pytest

from c4env.errors import UnreadableRun
from c4env.evaluation.__main__ import main
from c4env.evaluation.report import page as report
from c4env.evaluation.report import plots
from c4env.evaluation.results.training_curve import FILE, CurveWriter, Strength, read_curve
from tests.evaluation.test_report import GAMES, crowded
from tests.helpers.runs import run_of

pytest.importorskip("matplotlib", reason="figures need matplotlib")

CONTENT = report.contents(run_of(GAMES))


@pytest.mark.slow
def test_each_figure_is_written_in_three_forms(tmp_path):
    written = plots.write_plots(tmp_path / "figures", plots.run_figures(CONTENT))
    assert {path.stem for path in written} == set(plots.FIGURES)
    for path in written:
        data = path.read_bytes()
        assert data.startswith({".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}[path.suffix])
    svg = (tmp_path / "figures" / "strength.svg").read_text()
    assert ">one  " in svg  # names are text
    again = plots.write_plots(tmp_path / "again", plots.run_figures(CONTENT))
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
    content = {**crowded(count), "title": "A run with a long name, " * 8}
    drawn = dict(plots.run_figures(content))
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
        games = len(content["games"]["moves"])
        run = rf"A run with a long name.*\.\.\.: {games} games, digest {content['digest']}"
        assert sum(bool(re.fullmatch(run, words)) for words, _ in texts) == 1


def test_intervals_reach_from_their_low_to_their_high_end_on_a_signed_axis():
    figure = dict(plots.run_figures(CONTENT))["strength"]
    (bars,) = figure.axes[0].containers
    drawn = [end[0] for ends in bars[2][0].get_segments() for end in ends]
    assert drawn == pytest.approx(
        [row[end] for row in CONTENT["standings"] for end in ("Elo_low", "Elo_high")]
    )
    figure.draw_without_rendering()
    ticks = {tick.get_text() for tick in figure.axes[0].get_xticklabels()} - {"0"}
    assert ticks
    assert {words[0] for words in ticks} == {"+", "\N{MINUS SIGN}"}


def test_the_win_table_shows_the_percent_of_the_points():
    pairs = {"first": [0, 1], "second": [1, 0], "score": [2.5 / 8, 0.75]}
    axes = dict(plots.run_figures({**CONTENT, "pairs": pairs}))["win-table"].axes[0]
    shown = {text.get_position(): text.get_text() for text in axes.texts}
    assert shown == {(1, 0): "31", (0, 1): "75"}


def test_the_curve_of_a_training_is_a_table_and_a_figure(tmp_path, c4):
    curve = [Strength(10 * n, 2.5 * n, 0.5 / (n + 1), 50 * n, -9, 400, 0.5, 4) for n in range(3)]
    lines = [json.dumps(point._asdict()) + "\n" for point in curve]
    (tmp_path / FILE).write_text("".join(lines))
    rows = csv.DictReader(io.StringIO(c4("report", tmp_path, "--format", "csv")))
    assert [(row["step"], row["Elo"], row["Elo_low"]) for row in rows] == [
        (str(10 * n), f"{50 * n:.1f}", "-9.0") for n in range(3)
    ]
    c4("report", tmp_path, "--plots", tmp_path / "figures")
    assert {p.name for p in (tmp_path / "figures").iterdir()} == {
        f"training.{ending}" for ending in ("png", "svg", "pdf")
    }
    (_, figure), *_ = plots.training_figures("run", curve)
    elo, blunders = figure.axes
    assert [*elo.lines[0].get_ydata()] == [0, 50, 100]
    assert blunders.lines[0].get_ydata() == pytest.approx([50, 25, 50 / 3])


def test_a_curve_without_measurements_says_so(tmp_path, c4, capsys):
    CurveWriter(tmp_path)
    assert c4("report", tmp_path) == "No measurements yet.\n"
    assert main(["report", str(tmp_path), "--plots", str(tmp_path / "figures")]) == 2
    assert "no measurements yet: expected at least one" in capsys.readouterr().err
    assert not (tmp_path / "figures").exists()


@pytest.mark.parametrize("line", ["1\t2", "[1, 2]", '{"step": 1}', "x" * 200])
def test_a_line_that_is_not_a_measurement_is_named_and_stops_a_training(tmp_path, line):
    good = Strength(1, 2.5, 0.5, 50, -9, 400, 0.5, 4)
    (tmp_path / FILE).write_text(f"{json.dumps(good._asdict())}\n{line}\n")
    for use in (read_curve, CurveWriter):
        with pytest.raises(UnreadableRun, match=f"line 2: {re.escape(repr(line)[:80])}"):
            use(tmp_path)
