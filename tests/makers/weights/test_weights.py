"""Positions, labels and the training of the network."""

import numpy as np
import pytest

from c4env import Position, agents
from c4env.agents.learned import IntegerNetwork, features_of
from c4env.agents.solver import Solver
from c4env.agents.solver.exam import exam, held_out, keys
from c4env.bitboard import mirror, mirror_all, playable, winning_cells
from c4env.errors import InvalidOption
from c4env.observation import planes_of
from tests.makers import weights
from tests.makers.__main__ import main as make_again
from tests.makers.weights import labels as made
from tests.makers.weights.labels import Labels, positions_of_games

pytestmark = pytest.mark.slow  # of a maker, which is no part of the package

QUOTA = {9: 20, 20: 30, 30: 20}
SEED = np.random.SeedSequence(3)


def main(arguments):
    return make_again(["weights", *arguments])


def position_of(mine, theirs):
    return Position.from_bitboards(int(mine), int(theirs))


def labelled(mine, theirs):
    """The labels of positions, by the exact scores of the solver."""
    solver = Solver(table_mb=4)
    signs, keeps = np.empty(len(mine), np.int8), np.empty((len(mine), 7), np.int8)
    for i, sides in enumerate(zip(mine, theirs, strict=True)):
        scores = solver.scores(position_of(*sides))
        signs[i] = np.sign(max(score for score in scores if score is not None))
        keeps[i] = [-1 if score is None else np.sign(score) == signs[i] for score in scores]
    return Labels(mine, theirs, signs, keeps)


@pytest.fixture(scope="module")
def labels():
    """About 30 plies each: the solver is quick there, compiled or not."""
    return labelled(*positions_of_games({30: 40, 33: 20}, np.random.SeedSequence(5)))


@pytest.mark.compiled
def test_games_give_quiet_positions_of_the_plies_asked_for():
    mine, theirs = positions_of_games(QUOTA, SEED)
    plies = np.bitwise_count(mine | theirs)
    assert {ply: int(np.count_nonzero(plies == ply)) for ply in np.unique(plies)} == QUOTA
    pairs = list(zip(mine.tolist(), theirs.tolist(), strict=True))
    turned = [(mirror(own), mirror(other)) for own, other in pairs]
    assert len({min(pair) for pair in zip(pairs, turned, strict=True)}) == len(pairs)
    for own, other in pairs:
        assert position_of(own, other).outcome is None
        assert not (winning_cells(own) | winning_cells(other)) & playable(own | other)
    again = positions_of_games(QUOTA, np.random.SeedSequence(3))
    assert np.array_equal(mine, again[0])
    assert not held_out(mine, theirs).any()


@pytest.mark.compiled
def test_no_position_of_the_exam_is_learned_from():
    """Every one is held out, as its mirror image is; what is made to learn from holds none."""
    asked = [question.position for question in exam()]
    mine, theirs = np.array([(p.mine, p.theirs) for p in asked]).T
    assert held_out(mine, theirs).all()
    assert held_out(mirror_all(mine), mirror_all(theirs)).all()
    known = set(keys(mine, theirs).tolist())
    learned = positions_of_games({8: 300, 12: 300}, SEED)
    aside = positions_of_games({8: 300}, SEED, kept=True)
    assert not known & set(keys(*learned).tolist())
    assert known & set(keys(*aside).tolist())  # so games do reach some


@pytest.mark.compiled
def test_labels_are_what_exact_scores_say():
    mine, theirs = positions_of_games({9: 1, 11: 2, 12: 2, 18: 3, 26: 10, 35: 10}, SEED)
    for found, expected in zip(made.exact(mine, theirs), labelled(mine, theirs), strict=True):
        assert np.array_equal(found, expected)


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch", reason="PyTorch, is not installed")


@pytest.mark.compiled
def test_the_model_and_the_network_answer_alike(torch, labels):
    from tests.makers.weights.model import Model

    torch.manual_seed(5)
    model = Model(8, 2, 4, 16)
    for parameter in model.parameters():
        parameter.data += 0.05 * torch.randn(parameter.shape)
    model.rounded = True
    planes = torch.from_numpy(planes_of(features_of(*labels[:2]))).float().permute(0, 3, 1, 2)
    to_move = torch.from_numpy(np.bitwise_count(labels.mine | labels.theirs).astype(np.int64) & 1)
    with torch.no_grad():
        expected = model(planes, to_move).numpy()
    assert np.array_equal(IntegerNetwork(model.export()).one_way(*labels[:2]), expected)


@pytest.mark.compiled
def test_fitting_lowers_the_losses_and_goes_on_where_it_was(torch, labels, tmp_path):
    from tests.makers.weights.fit import fit
    from tests.makers.weights.model import Model

    def fitted(checkpoint, stops):
        for stop in stops:  # each time as if in a new process
            torch.manual_seed(1)
            model = Model(8, 1, 4, 16)
            fit(model, lambda step: [labels], stop, 40, 1, checkpoint, said.append)
        return model

    said = []
    torch.manual_seed(1)
    before, _ = made.measure(IntegerNetwork(Model(8, 1, 4, 16).export()), labels)
    whole = fitted(tmp_path / "a.pt", [40]).export()
    assert made.measure(IntegerNetwork(whole), labels)[0] < before
    parts = fitted(tmp_path / "b.pt", [15, 40]).export()
    assert all(np.array_equal(parts[name], array) for name, array in whole.items())
    assert len(said) == 3
    (tmp_path / "b.pt").write_bytes(b"no checkpoint")
    with pytest.raises(InvalidOption, match=r"b\.pt.*expected a checkpoint"):
        fitted(tmp_path / "b.pt", [40])


@pytest.mark.compiled
def test_the_command_trains_and_goes_on_where_it_was(torch, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(made, "PORTION", QUOTA)
    monkeypatch.setattr(made, "ALL", 3)
    monkeypatch.setattr(weights, "PARTS", 2)
    monkeypatch.setattr(weights, "SHAPE", (16, 1, 8, 64))
    monkeypatch.setattr(weights, "STEPS", 10_000)
    command = ["--out", str(tmp_path), "--scale", "0.002", "--jobs", "1"]
    assert main(command) == 0
    assert "held out" in capsys.readouterr().out
    first = (tmp_path / "weights.npz").read_bytes()
    agent = agents.make("learned", weights=str(tmp_path / "weights.npz"), depth=0)
    assert agent.choose(Position()) in range(7)
    (tmp_path / "weights.npz").unlink()
    (tmp_path / "model.pt").unlink()  # as if stopped in the fitting
    assert main(command) == 0
    assert (tmp_path / "weights.npz").read_bytes() == first
    capsys.readouterr()
    assert main([*command, "--seed", "2"]) == 2  # its positions would be mixed up
    assert "seed 1" in capsys.readouterr().err
