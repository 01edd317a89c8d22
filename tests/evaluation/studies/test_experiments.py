from __future__ import annotations

import pytest

from c4env.agents.solver import Solver
from c4env.agents.solver.ladder import RUNGS
from c4env.evaluation.__main__ import main
from c4env.evaluation.exact.labelled import make_labelled
from c4env.evaluation.studies.experiments import exact, pruning, random_positions
from c4env.position import Position


def test_pruning_compares_the_same_positions_at_each_depth():
    table = pruning(random_positions(4, seed=1), range(1, 4))
    found = [dict(zip(table.rows[0], row, strict=True)) for row in table.rows[1:]]
    assert [row["depth"] for row in found] == [1, 2, 3]
    for row in found:
        naive, pruned = row["nodes"].value, row["alphabeta nodes"].value
        assert naive >= pruned >= row["alphabeta-table nodes"].value > 0
        assert row["nodes ratio"].value == naive / row["alphabeta-table nodes"].value
    assert naive > pruned


@pytest.mark.compiled
@pytest.mark.slow
def test_exact_runs_every_solver_on_every_set():
    made = make_labelled("end-easy", 4, 0, Solver(book=None, table_mb=4))
    table = exact({"one": made[:2], "two": made[2:]}, max_nodes=5_000_000)
    assert [(name, solver) for name, solver, *_ in table.rows[1:]] == [
        (name, solver) for name in ("one", "two") for solver in (*RUNGS, "full solver")
    ]
    assert all(row[2] == row[3] == 2 for row in table.rows[1:])
    assert "full solver" in table.markdown()


@pytest.mark.compiled
@pytest.mark.slow
def test_the_commands(tmp_path, capsys):
    (tmp_path / "mine.txt").write_text(
        "4455 2\n".replace("2", str(Solver().score(Position.parse("4455"))))
    )
    assert main(["dev", "experiment", "pruning", str(tmp_path / "mine.txt"), "--depth", "2"]) == 0
    assert "1 position, " in capsys.readouterr().out
    (tmp_path / "end.txt").write_text("2252576253462244111563365343671351441 1\n")
    assert main(["dev", "experiment", "exact", str(tmp_path / "end.txt")]) == 2
    assert "is labelled 1" in capsys.readouterr().err
