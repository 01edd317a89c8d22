"""The figures of a training by self-play, and its picture."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="needs matplotlib: the extra plots")
torch = pytest.importorskip("torch", reason="needs torch: pip install torch")
torch.set_num_threads(1)  # a second one would but wait on a busy machine

from c4env.agents.selfplay.network import Evaluator, SelfPlayNetwork  # noqa: E402  # needs torch
from c4env.agents.solver import Solver  # noqa: E402
from c4env.agents.solver.exam import exam_positions  # noqa: E402
from c4env.observation import position_from  # noqa: E402
from tests.makers import selfplay  # noqa: E402  # needs torch
from tests.makers.__main__ import main  # noqa: E402

LATE = range(28, 33)
CURVES = {
    "minutes": [1, 2],
    "blunders": [0.5, 0.2],
    "greedy": [0.1, 0.7],
    "alphabeta-chain": [0, 1],
}


@pytest.fixture(scope="module")
def critical():
    return selfplay.critical_positions(60, LATE)


@pytest.mark.compiled
def test_critical_positions_are_so_by_exact_play(critical):
    solver = Solver(book=None, table_mb=4)
    assert len(critical.keeps) > 10
    for planes, mask, keeps in zip(*critical.seen.values(), critical.keeps, strict=True):
        position = position_from(planes)
        assert position.plies in LATE
        assert position not in exam_positions()
        scores = solver.scores(position)
        best = np.sign(solver.score(position))
        assert [s is not None for s in scores] == (mask == 1).tolist()
        assert [s is not None and np.sign(s) == best for s in scores] == keeps.tolist()
        assert keeps.sum() < mask.sum()


@pytest.mark.compiled
def test_the_same_seed_gives_the_same_positions(critical):
    again, other = (selfplay.critical_positions(60, LATE, seed) for seed in (0, 1))
    assert np.array_equal(again.seen["observation"], critical.seen["observation"])
    assert again.seen["observation"].tobytes() != other.seen["observation"].tobytes()


@pytest.mark.compiled
def test_the_networks_that_a_training_kept_are_judged(tmp_path, critical, monkeypatch):
    monkeypatch.setattr(selfplay, "AGAINST", ("random", "perfect"))
    for minutes in ("0001.0", "0002.5"):
        Evaluator(SelfPlayNetwork(4, 8, 1)).save(tmp_path / f"model-{minutes}.pt")
    found = selfplay.curves(tmp_path, critical)
    assert found["minutes"] == [1, 2.5]
    assert all(0 < share < 1 for share in found["blunders"])
    assert all(share < 0.5 for share in found["perfect"])


@pytest.mark.parametrize(("several", "labels"), [(False, 0), (True, 1)])
def test_the_same_figures_draw_the_same_picture(tmp_path, monkeypatch, several, labels):
    for name in ("first", "second") if several else ("first",):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model-0001.0.pt").touch()
    monkeypatch.setattr(selfplay, "curves", lambda folder, critical: CURVES)
    monkeypatch.setattr(selfplay, "critical_positions", lambda: None)
    pictures = [tmp_path / name for name in ("one.svg", "two.svg")]
    for picture in pictures:
        assert main(["selfplay", str(tmp_path), str(picture)]) == 0
    drawn = pictures[0].read_text()
    assert drawn == pictures[1].read_text()
    for text in ("alphabeta-chain", "greedy", "minutes of training", "critical moves"):
        assert text in drawn
    assert drawn.count(">first<") == labels


def test_a_folder_without_a_training_is_refused_in_a_line(tmp_path, capsys):
    assert main(["selfplay", str(tmp_path), str(tmp_path / "p.svg")]) == 2
    error = capsys.readouterr().err
    assert "expected a folder of a training" in error
    assert error.count("\n") == 1
