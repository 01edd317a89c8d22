"""The exam that ships, how it is made, and how agents sit it."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from importlib.resources import files

import numpy as np
import pytest

from c4env import agents
from c4env.agents.solver import Solver
from c4env.agents.solver.exam import (
    FILE,
    SHA256,
    VERSION,
    exam,
    exam_positions,
    parse_exam,
)
from c4env.evaluation.__main__ import main
from c4env.evaluation.errors import InvalidRun
from c4env.position import Position
from tests.helpers.paths import ROOT
from tests.makers import exam as making
from tests.makers import threats
from tests.makers.__main__ import main as make_again
from tests.makers.weights.labels import held_out


def signs(question):
    return [np.sign(score) for score in question.scores if score is not None]


def test_the_file_is_the_one_whose_hash_is_stated():
    data = files("c4env.agents.solver").joinpath(FILE).read_bytes()
    assert hashlib.sha256(data).hexdigest() == SHA256
    assert making.format_exam(exam()) == data.decode()
    page = (ROOT / "docs" / "explanation" / "exam.md").read_text()
    assert f"exam {VERSION}" in page
    assert SHA256 in page


def test_every_position_is_critical_and_quiet_and_there_once():
    positions = [question.position for question in exam()]
    assert len(exam_positions()) > 2 * len(positions) - 10  # a few are their own mirror image
    assert len({frozenset([p, p.mirror()]) for p in positions}) == len(positions)
    for question, position in zip(exam(), positions, strict=True):
        legal = [column for column, score in enumerate(question.scores) if score is not None]
        assert legal == list(position.legal_columns())
        assert min(signs(question)) < max(signs(question)) >= 0
        assert position.plies in making.PLIES
        assert making.quiet(position)


def test_positions_are_spread_over_plies_and_kinds():
    kinds = Counter(
        (len(q.moves), max(signs(q)), signs(q).count(max(signs(q))) == 1) for q in exam()
    )
    plies = Counter(len(question.moves) for question in exam())
    assert set(plies) == set(making.PLIES)
    assert max(plies.values()) == making.A_PLY
    assert 1500 < len(exam()) < 2200
    for wins in (1, 0):
        for only_one in (True, False):
            there = sum(n for (_, v, one), n in kinds.items() if (v, one) == (wins, only_one))
            assert there > 0.1 * len(exam())
    first = Counter((len(question.moves) - 4) // 11 for question in exam()[:200])
    assert min(first[third] for third in range(3)) > 30  # the first so many are spread as well


def test_late_scores_are_those_of_plain_negamax():
    negamax = agents.make("negamax")
    late = [question for question in exam() if len(question.moves) >= 33]
    assert len(late) > 50
    for question in late:
        for column in question.position.legal_columns():
            after = question.position.play(column)
            if after.outcome is None:
                value = -negamax.search(after).value
            else:
                value = 0 if after.outcome.winner is None else 1
            assert np.sign(value) == np.sign(question.scores[column])


@pytest.mark.slow
@pytest.mark.compiled
def test_scores_are_found_again_without_a_book(capsys):
    making.verify([question for question in exam() if len(question.moves) >= 20][:150])
    assert make_again(["exam", "verify", "--count", "1"]) == 0
    assert SHA256 in capsys.readouterr().out
    late = max(exam(), key=lambda question: len(question.moves))
    wrong = late._replace(scores=tuple(None if s is None else s + 1 for s in late.scores))
    with pytest.raises(InvalidRun, match="the scores are"):
        making.verify([wrong])


def test_training_leaves_the_exam_out(monkeypatch):
    """That of the heuristic; the network's is in tests/agents/training/test_train.py."""

    class Told:
        def choose(self, position):
            return position.legal_columns()[0]

    monkeypatch.setattr(threats, "make", lambda spec: Told())
    before = threats.sample(30, seed=1)
    assert not exam_positions().intersection(before)
    monkeypatch.setattr(threats, "exam_positions", lambda: frozenset(before[::2]))
    after = threats.sample(30, seed=1)
    assert after[: len(before) // 2] == before[1::2]
    assert not set(before[::2]).intersection(after)


@pytest.mark.slow
@pytest.mark.compiled
def test_an_exam_is_made_of_games_the_same_for_any_number_of_jobs(tmp_path, capsys):
    made = making.build(games=80, a_ply=2, seed=5)
    assert making.build(games=80, a_ply=2, seed=5, jobs=2) == made
    solver = Solver()
    assert 20 < len(made) <= 2 * len(making.PLIES)
    boards = [np.array([getattr(q.position, side) for q in made]) for side in ("mine", "theirs")]
    assert held_out(*boards).all()
    for question in made:
        if len(question.moves) >= 20:
            assert list(question.scores) == solver.scores(question.position)
        assert min(signs(question)) < max(signs(question))
        assert making.quiet(question.position)
    path = tmp_path / "exam.tsv"
    assert make_again(["exam", "build", str(path), "--games", "3", "--jobs", "1"]) == 0
    assert f"positions in {path}" in capsys.readouterr().out
    assert parse_exam(path.read_text()) == making.build(games=3)


def test_agents_sit_the_exam_without_anything_being_solved(monkeypatch, capsys, tmp_path):
    def solve(*arguments):
        raise AssertionError("its scores come with the package")

    monkeypatch.setattr(Solver, "scores", solve)
    command = ["quality", "random", "greedy", "--on", "exam", "--count", "60", "--quiet"]
    assert main([*command, "--format", "json", "--out", str(tmp_path)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["notes"][0].startswith(f"exam {VERSION} (sha256 {SHA256[:16]})")
    assert [row["critical"] for row in found["overall"]] == [60, 60]
    by_player = {row["player"]: row["keeping"]["value"] for row in found["overall"]}
    assert by_player["greedy"] > by_player["random"]
    answers = (tmp_path / "answers.jsonl").read_text().splitlines()[1:]
    kept = [
        question.scores[column]
        for question in exam()[:60]
        for spec, _, _, _, mine, theirs, column, _, _ in map(json.loads, answers)
        if spec == "greedy" and question.position == Position.from_bitboards(mine, theirs)
    ]
    best = [max(s for s in q.scores if s is not None) for q in exam()[:60]]
    share = np.mean([np.sign(s) == np.sign(b) for s, b in zip(kept, best, strict=True)])
    assert by_player["greedy"] == pytest.approx(share)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["build"], "expected the name of the file"),
        (["build", "there/is/none.tsv"], "there/is/none.tsv"),
        (["build", ".", "--games", "0"], "--games 0"),
        (["verify", "--count", "-1"], "--count -1"),
        (["verify", "--jobs", "0"], "--jobs 0"),
        (["sit"], "invalid choice: 'sit'"),
    ],
)
def test_bad_input_is_one_line(arguments, words, capsys):
    try:
        code = make_again(["exam", *arguments])
    except SystemExit as left:
        code = left.code
    assert code == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    assert words in shown.err
