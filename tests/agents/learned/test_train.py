"""Positions, labels and the training of the network."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
from agents.learned import labels as made
from agents.learned import train
from agents.learned.features import describe, player_to_move
from agents.learned.labels import FULL, Labels, held_out, label, mirrored, noisy_tactician, played
from agents.learned.network import UNIT, WEIGHT, Network, shipped
from agents.solver import Solver
from c4env import Position
from c4env.bitboard import mirror

QUOTA = {2: 30, 7: 20, 30: 20}


@pytest.fixture(scope="module")
def planes() -> np.ndarray:
    return played(noisy_tactician, QUOTA, seed=3, boards=64)


@pytest.fixture
def small_solver(monkeypatch: pytest.MonkeyPatch) -> list[Position]:
    """The default book instead of that of 12 plies; and which positions were solved."""
    asked: list[Position] = []

    class Counting(Solver):
        def scores(self, position: Position) -> list[int | None]:
            asked.append(position)
            return super().scores(position)

    counting = Counting(table_mb=4)
    monkeypatch.setattr(made, "solver", lambda: counting)
    return asked


def test_games_give_different_positions_of_the_plies_asked_for(planes: np.ndarray) -> None:
    plies = np.count_nonzero(planes.reshape(len(planes), -1), axis=1)
    assert np.array_equal(np.unique(plies), sorted(QUOTA))
    assert all(np.count_nonzero(plies == ply) <= count for ply, count in QUOTA.items())
    assert np.count_nonzero(plies == 2) == 25  # all there are, but for mirror images
    boards = [(p.mine, p.theirs) for p in positions_of(planes)]
    turned = [(mirror(mine), mirror(theirs)) for mine, theirs in boards]
    assert len({min(pair) for pair in zip(boards, turned, strict=True)}) == len(boards)
    assert np.array_equal(planes, played(noisy_tactician, QUOTA, seed=3, boards=64))


def positions_of(planes: np.ndarray) -> list[Position]:
    sides = made.bitboards_from(planes)
    return [
        Position.from_bitboards(*pair) for pair in zip(*map(np.ndarray.tolist, sides), strict=True)
    ]


def test_labels_are_the_solvers_and_survive_an_interruption(
    planes: np.ndarray,
    tmp_path: Path,
    small_solver: list[Position],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(made, "PORTION", 10)
    labels = label(planes, tmp_path, jobs=1)
    assert len(labels.mine) == len(planes) == len(small_solver)
    solver = Solver(table_mb=4)
    for mine, theirs, scores in zip(*labels, strict=True):
        position = Position.from_bitboards(int(mine), int(theirs))
        assert [None if s == FULL else s for s in scores] == solver.scores(position)
    files = sorted(tmp_path.iterdir())
    assert len(files) == -(-len(planes) // 10)
    files[0].unlink()
    small_solver.clear()
    again = label(planes, tmp_path, jobs=1)
    assert 0 < len(small_solver) <= 10  # only what was lost is made again
    for field, same in zip(labels, again, strict=True):
        assert np.array_equal(field, same)
    small_solver.clear()
    label(planes[:-5], tmp_path, jobs=1)  # other positions are not taken for these
    assert small_solver


def test_mirror_images_are_held_out_together() -> None:
    planes = played(noisy_tactician, {14: 800}, seed=1, boards=160)
    mine, theirs = made.bitboards_from(planes)
    turned = made.bitboards_from(planes[:, :, ::-1])
    assert np.array_equal([mirrored(mine), mirrored(theirs)], turned)
    kept = held_out(mine, theirs)
    assert np.array_equal(held_out(mirrored(mine), mirrored(theirs)), kept)
    assert 0.005 < kept.mean() < 0.05


def test_measure_counts_what_is_right(planes: np.ndarray, small_solver: list[Position]) -> None:
    mine, theirs = made.bitboards_from(planes)
    scores = np.array(
        [
            [FULL if s is None else s for s in made.solver().scores(position)]
            for position in positions_of(planes)
        ],
        np.int8,
    )

    class Told:
        """Answers as the labels say."""

        def __call__(self, planes: Any, masks: Any) -> tuple[np.ndarray, np.ndarray]:
            best = made.best_score(scores)
            return np.where(masks, scores, -np.inf), np.sign(best) * 0.9

    labels = Labels(mine, theirs, scores)
    *bands, last = made.measure(Told(), labels)  # type: ignore[arg-type]
    assert last == ("all", len(planes), 1.0, 1.0, 1.0)
    assert [band.plies for band in bands] == ["0-5", "6-11", "30-35"]
    assert sum(band.positions for band in bands) == len(planes)
    assert made.measure(shipped(), labels)[-1].keeps < 1


def test_without_torch_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "agents.learned.fit", raising=False)
    monkeypatch.delitem(sys.modules, "agents.learned.model", raising=False)
    assert train.main(["--out", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert "pip install 'c4env[train]'" in error
    assert error.count("\n") == 1


def test_a_bad_share_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for scale in ("0", "-1", "2", "nan"):
        assert train.main(["--out", str(tmp_path), "--scale", scale]) == 2
        assert "expected" in capsys.readouterr().err


@pytest.fixture(scope="module")
def torch() -> Any:
    return pytest.importorskip("torch", reason="PyTorch, of the extra train, is not installed")


def test_the_model_and_the_network_answer_alike(torch: Any, planes: np.ndarray) -> None:
    from agents.learned.model import Model

    torch.manual_seed(5)
    model = Model(32, 16, 2)
    network = Network(model.export())
    planes = planes[np.argsort(player_to_move(planes), kind="stable")]
    first = int(np.count_nonzero(player_to_move(planes) == 0))
    with torch.no_grad():
        logits, raw = model(torch.from_numpy(describe(planes)), first)
    out = network._one_way(planes) / (UNIT * WEIGHT)
    assert np.array_equal(out, np.column_stack([logits.numpy(), raw.numpy()]))


def test_positions_a_ply_on_have_the_scores_of_their_columns(
    torch: Any, planes: np.ndarray, small_solver: list[Position]
) -> None:
    from agents.learned.fit import after, policy_target, value_target

    mine, theirs = made.bitboards_from(planes)
    solver = made.solver()
    scores = [solver.scores(position) for position in positions_of(planes)]
    table = np.array([[FULL if s is None else s for s in row] for row in scores], np.int8)
    labels = Labels(mine, theirs, table)
    found = after(labels, np.random.default_rng(1))
    assert len(found[0]) > len(mine) / 2
    for own, other, score in zip(*found, strict=True):
        position = Position.from_bitboards(int(own), int(other))
        assert position.outcome is None
        assert solver.score(position) == score
    shares = policy_target(table)
    assert np.allclose(shares.sum(axis=1), 1)
    assert (shares[table == FULL] == 0).all()
    most = made.best_score(table)
    assert (table[np.arange(len(table)), shares.argmax(axis=1)] == most).all()
    values = value_target(np.arange(-21, 22, dtype=np.int8))
    assert (np.diff(values) > 0).all()
    assert values[0] == -1
    assert values[21] == 0
    assert values[-1] == 1


@pytest.mark.compiled
def test_the_command_trains_and_goes_on_where_it_was(
    torch: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("bitbully_databases", reason="the 12-ply book is not installed")
    command = ["--out", str(tmp_path), "--scale", "0.002", "--jobs", "1"]
    assert train.main(command) == 0
    assert "held out" in capsys.readouterr().out
    first = (tmp_path / "weights.npz").read_bytes()
    agent = agents.make("learned", weights=str(tmp_path / "weights.npz"), depth=0)
    assert agent.choose(Position()) in range(7)
    (tmp_path / "weights.npz").unlink()
    (tmp_path / "model-1.pt").unlink()  # as if stopped in the last fitting
    assert train.main(command) == 0
    assert (tmp_path / "weights.npz").read_bytes() == first
    capsys.readouterr()
    assert train.main([*command, "--seed", "2"]) == 2  # its positions would be mixed up
    assert "seed 1" in capsys.readouterr().err


@pytest.mark.compiled
def test_fitting_lowers_the_losses(
    torch: Any, planes: np.ndarray, small_solver: list[Position]
) -> None:
    from agents.learned.fit import fit
    from agents.learned.model import Model

    torch.manual_seed(1)
    mine, theirs = made.bitboards_from(planes)
    scores = [made.solver().scores(position) for position in positions_of(planes)]
    table = np.array([[FULL if s is None else s for s in row] for row in scores], np.int8)
    labels = Labels(mine, theirs, table)
    model = Model(32, 16, 1)
    before = made.measure(Network(model.export()), labels)[-1]
    fit(model, labels, 20, 1, lambda text: None)
    assert made.measure(Network(model.export()), labels)[-1].best > before.best
