"""The exam that ships, and how agents sit it."""

import hashlib
import json
from importlib.resources import files

import numpy as np
import pytest

from c4env.agents.solver import Solver
from c4env.agents.solver.exam import FILE, SHA256, VERSION, exam, exam_positions
from c4env.position import Position
from tests.helpers.paths import ROOT
from tests.rules import reference
from tests.rules.positions import quiet


def signs(question):
    return [np.sign(score) for score in question.scores if score is not None]


def test_the_file_is_the_one_whose_hash_is_stated():
    data = files("c4env.agents.solver").joinpath(FILE).read_bytes()
    assert hashlib.sha256(data).hexdigest() == SHA256
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
        assert 4 <= position.plies <= 36
        assert quiet(position)


def test_late_scores_are_what_the_slow_reference_finds():
    late = [question for question in exam() if len(question.moves) >= 33]
    assert len(late) > 50
    for question in late:
        board = reference.board_after(question.moves)
        scores = reference.column_scores(board, question.position.to_move)
        assert scores == list(question.scores)


@pytest.mark.slow
@pytest.mark.compiled
def test_scores_are_found_again_without_a_book():
    solver = Solver(book=None)
    for question in [question for question in exam() if len(question.moves) >= 20][:150]:
        assert tuple(solver.scores(question.position)) == question.scores


def test_agents_sit_the_exam_without_anything_being_solved(monkeypatch, c4, tmp_path):
    monkeypatch.setattr(Solver, "scores", pytest.fail)
    command = ["quality", "random", "greedy", "--on", "exam", "--count", "60", "--quiet"]
    found = json.loads(c4(*command, "--format", "json", "--out", tmp_path))
    assert any(n.startswith(f"exam {VERSION} (sha256 {SHA256[:16]})") for n in found["notes"])
    assert "95 % intervals over 60 positions" in "".join(found["notes"])
    assert [row["critical"] for row in found["overall"]] == [60, 60]
    known = {question.position: question.scores for question in exam()[:60]}
    by_player = {row["player"]: row["keeping"] for row in found["overall"]}
    assert by_player["greedy"] > by_player["random"]
    kept = []
    for line in (tmp_path / "answers.jsonl").read_text().splitlines():
        spec, *_, mine, theirs, column = json.loads(line)
        if spec == "greedy":
            scores = known[Position.from_bitboards(mine, theirs)]
            best = max(score for score in scores if score is not None)
            kept.append(np.sign(scores[column]) == np.sign(best))
    assert len(kept) == 60
    assert by_player["greedy"] == pytest.approx(np.mean(kept))
