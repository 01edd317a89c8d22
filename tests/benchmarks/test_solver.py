"""The benchmarks of the solver, of a position and of its columns: alone, and beside bitbully."""

from __future__ import annotations

import pytest

from tests.benchmarks import columns, solver
from tests.benchmarks.__main__ import main
from tests.benchmarks.solver import Sample
from tests.helpers.commands import refusal

ROWS = [Sample(row.moves, None) for row in solver.random_set(30, 5, 1)]
FINISHED = Sample("1212121", -18)


def peer():
    return pytest.importorskip("bitbully.bitbully_core", reason="bitbully is not installed")


@pytest.mark.compiled
def test_alone():
    (row,) = solver.run({"late": [*ROWS, FINISHED]}, None)
    assert (row[1], row[4:]) == (6, [None, None, None, 0])
    (row,) = solver.run({"mistaken": [Sample("1212121", 18)]}, None)
    assert row[-1] == 1


@pytest.mark.compiled
def test_columns_alone():
    (cells,) = columns.run({"late": [*ROWS, FINISHED]}, None)
    row = dict(zip(columns.HEADING, cells, strict=True))
    assert (row["set"], row["positions"], row["bitbully ms"], row["wrong"]) == ("late", 6, None, 0)
    assert 0 < row["exact"] <= 1
    assert all(row[f"{way} ms"] > 0 for way in columns.WAYS)


@pytest.mark.compiled
def test_beside_the_peer():
    core = peer()
    (cells,) = solver.run({"late": ROWS}, core)
    row = dict(zip(solver.HEADING, cells, strict=True))
    assert all(row[f"{driver} ms"] > 0 for driver in solver.DRIVERS)
    assert row["wrong"] == 0
    (cells,) = columns.run({"late": ROWS}, core)
    row = dict(zip(columns.HEADING, cells, strict=True))
    assert row["ratio"] > 0
    assert row["wrong"] == 0


@pytest.mark.compiled
def test_the_command_line_takes_the_last_positions_of_a_file(tmp_path, capsys):
    path = tmp_path / "late.txt"
    path.write_text("1212121 18\n121212 18\n")
    for benchmark in ("solver", "columns"):
        assert main([benchmark, str(path), "--alone", "--count", "1"]) == 0
        header, line = capsys.readouterr().out.splitlines()
        assert header.split()[0] == "set"
        assert line.split()[:2] == ["late", "1"]
        assert line.split()[-1] == "0"
    assert main(["solver", str(path), "--alone"]) == 1  # the first line is mistaken


@pytest.mark.parametrize(
    "options",
    [
        ["solver", "--count", "0"],
        ["columns", "--count", "-3"],
        ["solver", "--repeats", "0"],
        ["columns", "nowhere.txt"],
    ],
)
def test_bad_options(options, capsys):
    assert options[-1] in refusal(options, capsys, main)
