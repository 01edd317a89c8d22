"""``python -m tests.makers``: a small book, exam, table of Elo and set of weights.

    python -m pytest tests/makers/checks.py

Run it before a maker that is run once a year; the suite does not collect it.
"""

import runpy
from dataclasses import replace

import numpy as np
import pytest

from c4env import Position, agents
from c4env.agents.graded_elo import ELO_LEVELS, SKILL_LEVELS
from c4env.agents.heuristics.evaluations import SIZE
from c4env.agents.heuristics.weights import WEIGHTS
from c4env.agents.learned import IntegerNetwork, features_of
from c4env.agents.solver import Solver
from c4env.agents.solver.exam import exam, held_out, keys
from c4env.bitboard import mirror, mirror_all, playable, winning_cells
from c4env.errors import InvalidOption
from c4env.evaluation.results.round_robin import round_robin
from c4env.observation import planes_of
from tests.helpers.commands import refusal
from tests.makers import exam as making
from tests.makers import graded, leaderboard, threats, weights
from tests.makers.__main__ import main
from tests.makers.weights import labels as made
from tests.makers.weights.labels import Labels, positions_of_games


def test_bad_input_is_one_line_and_exit_code_2(capsys):
    for arguments, words in (
        (["verify", "no-such-book"], "no-such-book"),
        (["build", "x", "--plies", "20"], "plies=20: expected 1..8"),
        (["verify", "--sample", "0"], "--sample: 0"),
    ):
        assert words in refusal(["book", *arguments], capsys, main)


def test_a_small_book_is_built_and_verified(tmp_path, capsys, monkeypatch):
    """The default book finds the scores in no time; one of its own is searched for."""
    assert main(["book", "verify", "--sample", "1"]) == 0
    assert "1 scores computed again" in capsys.readouterr().out
    monkeypatch.setattr("tests.makers.book.Solver", lambda book: Solver())
    path = tmp_path / "two.npz"
    assert main(["book", "build", str(path), "--plies", "2", "--sample", "5"]) == 0
    assert "2 plies" in capsys.readouterr().out
    assert main(["book", "verify", str(path)]) == 0
    path.write_bytes(path.read_bytes()[:-1])
    assert main(["book", "verify", str(path)]) == 2


def test_a_small_exam_is_made_and_verified(tmp_path):
    path = tmp_path / "exam.tsv"
    assert main(["exam", "build", str(path), "--games", "40", "--quiet"]) == 0
    questions = making.build((1,), 40)
    assert path.read_text() == making.format_exam(questions)
    making.verify(questions[:3])
    late = max(exam(), key=lambda question: len(question.moves))
    wrong = late._replace(scores=tuple(None if s is None else s + 1 for s in late.scores))
    with pytest.raises(InvalidOption, match="the scores are"):
        making.verify([wrong])


@pytest.mark.parametrize("elo", [-900.0, 0.0, 250.0])
def test_the_elo_is_that_which_expects_the_points(elo):
    others = np.array([-500.0, -100.0, 0.0, 300.0])
    expected = 1 / (1 + 10 ** ((others - elo) / 400))
    found, error = graded.rate_alone(others, 100, 100 * float(expected.sum()))
    assert found == pytest.approx(elo, abs=1e-3)
    _, with_more = graded.rate_alone(others, 400, 400 * float(expected.sum()))
    assert with_more == pytest.approx(error / 2)


def test_the_table_leaves_out_an_elo_that_chance_put_out_of_order(tmp_path):
    measured = {0.1: -800.4, 0.2: -600.0, 0.3: -650.0, 0.5: 0.0, 1.0: 500.0}
    graded.write(tmp_path / "levels.py", measured, 1, 12.0)
    found = runpy.run_path(str(tmp_path / "levels.py"))
    assert found["ELO_LEVELS"] == (ELO_LEVELS[0], -800, -600, 0, ELO_LEVELS[-1])
    assert found["SKILL_LEVELS"] == (SKILL_LEVELS[0], 0.1, 0.2, 0.5, SKILL_LEVELS[-1])


def test_an_elo_measures_as_it_says(monkeypatch):
    """Within six standard errors."""
    monkeypatch.setattr(graded, "QUICK", ("random", "greedy", "rust-port", "mcts"))
    found = graded.measure(graded.Graded(-400).skill, seed=5, precise=40)
    assert abs(found.elo + 400) < 240
    assert found.score["random"] > found.score["greedy"] > found.score["mcts"]


def test_regression_finds_the_weights_that_made_the_points():
    generator = np.random.default_rng(5)
    counts = generator.integers(-3, 4, size=(40_000, 4)).astype(float)
    true = np.array([0.8, -0.5, 0.0, 0.3])
    points = (generator.random(40_000) < 1 / (1 + np.exp(-counts @ true))).astype(float)
    assert np.abs(threats.regress(counts, points) - true).max() < 0.03


def test_the_command_writes_weights_that_know_wins_from_losses(tmp_path):
    out = tmp_path / "weights.py"
    options = ["--positions", "300", "--seed", "2", "--out", str(out)]
    assert main(["threats", *options]) == 0
    weights = runpy.run_path(str(out))["WEIGHTS"]
    assert weights.shape == (SIZE,)
    assert "300 positions, seed 2" in out.read_text()
    # Few positions, but the weights that matter have the same signs as the shipped weights.
    strong = np.abs(WEIGHTS) > 80
    assert np.mean(np.sign(weights[strong]) == np.sign(WEIGHTS[strong])) > 0.7


def test_the_leaderboard_is_played_at_a_commit_and_its_games_repeat(tmp_path):
    for commit in ("", "abc-dirty"):
        with pytest.raises(InvalidOption, match="expected a checkout without changes"):
            leaderboard.require_commit(commit)
    specs = ["random", "greedy", "minimax:depth=2"]
    run = round_robin(specs, openings=1, jobs=1)
    board = leaderboard.board_of(run, dict.fromkeys(specs, "default"))
    again = leaderboard.check(board, str(tmp_path), 1)
    assert [*again.items] == [(spec, 16, 0) for spec in specs]
    row = {**board.results["random"], "greedy": "----"}
    other = replace(board, results={**board.results, "random": row})
    assert [row[2] for row in leaderboard.check(other, str(tmp_path), 1).items] == [4, 4, 0]


# -- the weights of the network ---------------------------------------------------------------

QUOTA = {9: 20, 20: 30, 30: 20}
SEED = np.random.SeedSequence(3)


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


def test_labels_are_what_exact_scores_say():
    mine, theirs = positions_of_games({9: 1, 11: 2, 12: 2, 18: 3, 26: 10, 35: 10}, SEED)
    for found, expected in zip(made.exact(mine, theirs), labelled(mine, theirs), strict=True):
        assert np.array_equal(found, expected)


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch", reason="PyTorch, is not installed")


def test_the_model_and_the_network_give_the_same_answers(torch, labels):
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


def test_the_command_trains_and_goes_on_where_it_was(torch, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(made, "PORTION", QUOTA)
    monkeypatch.setattr(made, "ALL", 3)
    monkeypatch.setattr(weights, "PARTS", 2)
    monkeypatch.setattr(weights, "SHAPE", (16, 1, 8, 64))
    monkeypatch.setattr(weights, "STEPS", 10_000)
    command = ["--out", str(tmp_path), "--scale", "0.002", "--jobs", "1"]
    assert main(["weights", *command]) == 0
    assert "held out" in capsys.readouterr().out
    first = (tmp_path / "weights.npz").read_bytes()
    agent = agents.make("learned", weights=str(tmp_path / "weights.npz"), depth=0)
    assert agent.choose(Position()) in range(7)
    (tmp_path / "weights.npz").unlink()
    (tmp_path / "model.pt").unlink()  # as if stopped in the fitting
    assert main(["weights", *command]) == 0
    assert (tmp_path / "weights.npz").read_bytes() == first
    capsys.readouterr()
    assert main(["weights", *command, "--seed", "2"]) == 2  # its positions would be mixed up
    assert "seed 1" in capsys.readouterr().err
