"""How near agents come to exact play: the shares, and the command."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from agents.solver import Solver
from c4env.position import Position
from evaluation.__main__ import main
from evaluation.convergence import SPECS, convergence
from evaluation.errors import InvalidRun
from evaluation.labelled import Labelled

LATE = (
    *("2252576253462244111563365343671351441", "23163416124767223154467471272416755633"),
    *("3642756176227637211322113551637574556", "7574351513437646536627543374245122671"),
)


@functools.cache
def labelled(moves: tuple[str, ...] = LATE) -> list[Labelled]:
    solver = Solver(book=None, table_mb=4)
    return [Labelled(m, Position.parse(m), solver.score(Position.parse(m))) for m in moves]


def test_exact_play_is_always_best() -> None:
    over = Labelled("1212121", Position.parse("1212121"), -18)
    rows, table = convergence({"late": [*labelled(), over]}, ["perfect:table_mb=4"])
    assert [(r.positions, r.best, r.kept) for r in rows] == [(4, 4, 4)]
    assert "100 / 100" in table


def test_shares_are_counted_by_score_and_by_sign() -> None:
    sets = {"one": labelled()[:1], "rest": labelled()[1:]}
    rows, table = convergence(sets, ["random", "mcts:simulations=50"], seed=3)
    assert [(r.spec, r.set_name) for r in rows] == [
        (spec, name) for spec in ("random", "mcts:simulations=50") for name in sets
    ]
    solver = Solver(book=None, table_mb=4)
    import agents

    agent = agents.make("random")
    best = kept = 0
    for one in labelled()[1:]:
        agent.reset(3)
        score = solver.scores(one.position)[agent.choose(one.position)]
        assert score is not None
        best += score == one.score
        kept += (score > 0, score < 0) == (one.score > 0, one.score < 0)
    assert (rows[1].best, rows[1].kept) == (best, kept)
    assert all(row.best <= row.kept <= row.positions for row in rows)
    assert "random" in table


def test_wrong_labels_and_empty_sets_are_refused() -> None:
    (right,) = labelled(LATE[:1])
    with pytest.raises(InvalidRun, match="is labelled"):
        convergence({"wrong": [right._replace(score=right.score + 1)]}, ["random"])
    with pytest.raises(InvalidRun, match="set 'none'"):
        convergence({"none": []}, ["random"])


@pytest.mark.compiled
def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "late.txt").write_text("".join(f"{p.moves} {p.score}\n" for p in labelled()))
    assert main(["experiment", "mcts", str(tmp_path / "late.txt")]) == 0
    shown = capsys.readouterr().out
    assert all(spec in shown for spec in SPECS)
    assert "100 / 100" in shown
