"""The curves of a training as a picture."""

from __future__ import annotations

import pytest

pytest.importorskip("matplotlib", reason="needs matplotlib: the extra plots")

from c4env.agents.training.command_line import PICTURES, run
from c4env.agents.training.selfplay_picture import draw

PROGRESS = (
    "minutes\tpositions\tblunders\tgreedy\talphabeta-chain\n"
    "1\t100\t0.5\t0.1\t0\n"
    "2\t300\t0.25\t0.75\t0.5\n"
)


def main(arguments):
    return run(draw, None, argv=arguments, endings=PICTURES)


def test_the_same_figures_draw_the_same_picture(tmp_path):
    (tmp_path / "progress.tsv").write_text(PROGRESS)
    pictures = [tmp_path / name for name in ("one.svg", "two.svg")]
    for picture in pictures:
        assert main([str(tmp_path), str(picture)]) == 0
    drawn = pictures[0].read_text()
    assert drawn == pictures[1].read_text()
    for text in ("alphabeta-chain", "greedy", "minutes of training", "critical moves"):
        assert text in drawn


def test_the_curves_of_several_trainings_are_told_apart_by_their_folders(tmp_path):
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "progress.tsv").write_text(PROGRESS)
    assert main([str(tmp_path), str(tmp_path / "p.svg")]) == 0
    drawn = (tmp_path / "p.svg").read_text()
    assert [drawn.count(f">{text}<") for text in ("first", "second", "greedy")] == [1, 1, 1]


@pytest.mark.parametrize(
    "content", ["", "minutes\n1\n", "a\tb\n1\t2\n", PROGRESS + "3\t400\n", "\xff"]
)
def test_what_is_no_training_is_refused_in_a_line(tmp_path, capsys, content):
    (tmp_path / "progress.tsv").write_text(content, encoding="latin-1")
    assert main([str(tmp_path), str(tmp_path / "p.svg")]) == 2
    assert "expected progress.tsv of a training" in capsys.readouterr().err
    assert main([str(tmp_path / "none"), str(tmp_path / "p.svg")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
