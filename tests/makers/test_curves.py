"""The picture of trainings by processor minutes."""

from __future__ import annotations

import pytest

pytest.importorskip("matplotlib", reason="needs matplotlib: the extra plots")

from tests.makers import curves  # needs matplotlib
from tests.makers.__main__ import main


def test_the_figures_of_the_repository_draw_the_same_picture_twice(tmp_path):
    pictures = [tmp_path / name for name in ("one.svg", "two.svg")]
    for picture in pictures:
        assert main(["curves", str(curves.FILE), str(picture)]) == 0
    drawn = pictures[0].read_text()
    assert drawn == pictures[1].read_text()
    for text in (*curves.read(curves.FILE), *curves.JUDGES.values()):
        assert drawn.count(f">{text}<") == 1


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ("training\tminutes\texam\nours\t1\t2\n", "KeyError('critical')"),
        ("training\tminutes\texam\tcritical\nours\t1\tx\t3\n", "'x'"),
        ("training\tminutes\texam\tcritical\nours\t1\n", "NoneType"),
        (None, "No such file"),
    ],
)
def test_another_table_is_refused_in_a_line(tmp_path, capsys, table, told):
    file = tmp_path / "table.tsv"
    if table is not None:
        file.write_text(table)
    assert main(["curves", str(file), str(tmp_path / "p.svg")]) == 2
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1
