"""``python -m tests.makers``: a small book, exam, table of Elo and set of weights."""

import runpy
from dataclasses import replace

import numpy as np
import pytest

from c4env.agents.heuristics.evaluations import SIZE
from c4env.agents.heuristics.weights import WEIGHTS
from c4env.agents.levels import ELO_LEVELS, SKILL_LEVELS
from c4env.agents.solver import Solver
from c4env.agents.solver.exam import exam
from c4env.errors import InvalidOption
from c4env.evaluation.games.tournament import round_robin
from c4env.evaluation.studies.leaderboard import stored_board
from tests.helpers.commands import refusal
from tests.makers import exam as making
from tests.makers import graded, leaderboard, threats
from tests.makers.__main__ import main


def test_bad_input_is_one_line_and_exit_code_2(capsys):
    for arguments, words in (
        (["verify", "no-such-book"], "no-such-book"),
        (["build", "x", "--plies", "20"], "plies=20: expected 1..8"),
        (["verify", "--sample", "0"], "--sample: 0"),
    ):
        assert words in refusal(["book", *arguments], capsys, main)


@pytest.mark.slow
@pytest.mark.compiled
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


@pytest.mark.slow
@pytest.mark.compiled
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


@pytest.mark.compiled
@pytest.mark.slow
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


@pytest.mark.compiled
@pytest.mark.slow
def test_the_command_writes_weights_that_know_wins_from_losses(tmp_path):
    out = tmp_path / "weights.py"
    options = ["--positions", "300", "--seed", "2", "--out", str(out)]
    assert main(["threats", *options]) == 0
    weights = runpy.run_path(str(out))["WEIGHTS"]
    assert weights.shape == (SIZE,)
    assert "300 positions, seed 2" in out.read_text()
    # Few positions, but the signs of what matters are those of the weights that ship.
    strong = np.abs(WEIGHTS) > 80
    assert np.mean(np.sign(weights[strong]) == np.sign(WEIGHTS[strong])) > 0.7


def test_the_tables_of_the_leaderboard_are_made_from_the_stored_games():
    board = stored_board()
    for path, made in (
        (leaderboard.README, leaderboard.readme_of),
        (leaderboard.RESULTS, leaderboard.results_of),
    ):
        text = path.read_text()
        assert made(text, board) == text
        assert made(text, replace(board, commit="abc123")) != text
    changed = leaderboard.readme_of("| `greedy`: one | +1 | 2% | 3 |\n", board)
    (greedy,) = (rating for rating in board.rate() if rating.player == "greedy")
    milliseconds = board.milliseconds["greedy"]
    elo = f"{greedy.elo:+.0f} ({greedy.low:+.0f} .. {greedy.high:+.0f})"
    assert changed == f"| `greedy`: one | {elo} | 2% | {milliseconds:.3g} |\n"


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
