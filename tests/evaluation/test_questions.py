"""Questions of known score: sets, the exam that ships, and how agents answer."""

import hashlib
from contextlib import closing
from importlib.resources import files

import numpy as np
import pytest

from c4env import agents
from c4env.agents.solver import Solver
from c4env.agents.solver.exam import FILE, SHA256, VERSION, exam, exam_positions
from c4env.bitboard import CELLS
from c4env.errors import InvalidOption, UnreadableRun
from c4env.evaluation.exact.position_sets import (
    STAGES,
    make_positions,
    positions_of_sets,
    read_positions,
)
from c4env.evaluation.exact.quality import ANSWERS_FILE, question_agents, referee_of
from c4env.evaluation.exact.scores import Judge
from c4env.position import Position
from tests.helpers.paths import ROOT
from tests.rules import reference
from tests.rules.positions import format_labelled, quiet, random_positions

SOLVER = Solver(book=None, table_mb=1)
SET = make_positions("end-easy", 30, 3, SOLVER)


def a_judge(folder=None):
    return Judge(folder, book=None, table_mb=1)


@pytest.fixture
def judge():
    return a_judge()


def answers(specs, *arguments, **options):
    with closing(referee_of(specs)) as referee:
        return question_agents(referee, *arguments, **options)


def breaks_down(observation):
    if observation["observation"].sum() % 2:
        raise RuntimeError("odd")
    return int(np.flatnonzero(observation["action_mask"])[0])


@pytest.mark.compiled  # the perfect agent reads its book
def test_perfect_answers_are_perfect_and_every_agent_gets_the_same_questions(judge):
    quality = answers(["random", "perfect:table_mb=1", "greedy"], SET, judge)
    assert quality.players[0] == "perfect:table_mb=1"
    perfect, *others = quality.overall()
    assert perfect.optimal.value == 1
    for other in others:
        assert (other.moves, other.forced, other.critical) == perfect[1:4]
    for judged in quality.moves:
        position = next(p.position for p in SET if p.moves == judged.group)
        assert list(judged.scores) == SOLVER.scores(position)
        assert judged.ply == position.plies


def test_answers_are_kept_and_go_on(tmp_path, judge):
    specs = ["random", "greedy"]
    whole = answers(specs, SET, judge, folder=tmp_path / "whole")

    def stop(done, total):
        assert total == 60
        if done == 37:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        answers(specs, SET, judge, folder=tmp_path, watch=stop)
    path = tmp_path / ANSWERS_FILE
    assert path.read_text().count("\n") == 37
    assert answers(specs, SET, judge, folder=tmp_path).moves == whole.moves
    assert path.read_text() == (tmp_path / "whole" / ANSWERS_FILE).read_text()
    answers(specs, SET, judge, seed=1, folder=tmp_path)
    assert path.read_text().count("\n") == 120


def test_an_agent_without_an_answer_is_noted(judge):
    agents.register("answers-breaks-down", breaks_down)
    quality = answers(["answers-breaks-down", "greedy"], SET, judge)
    odd = sum(p.position.plies % 2 for p in SET)
    missing = [m for m in quality.moves if m.player != "greedy" and m.ply % 2]
    assert len(missing) == odd
    assert max(m.loss for m in missing) > 0
    assert all(m.best - m.loss == min(s for s in m.scores if s is not None) for m in missing)
    worst = "judged as the worst column, for example: exception: "
    assert quality.text().startswith(
        f"answers-breaks-down gave no answer in {odd} of {len(SET)} positions ({odd} exception), "
        f"{worst}"
    )
    with pytest.raises(InvalidOption, match="no agent answered"):
        answers(["answers-breaks-down"], [p for p in SET if p.position.plies % 2], judge)


def late_positions(count):
    return random_positions(count, seed=0, fewest=32, most=35)


def test_scores_are_the_solvers_and_mirror_images_share_them():
    solver = Solver(book=None, table_mb=1)
    positions = late_positions(40)
    judge = a_judge()
    judge.judge([*positions, *(p.mirror() for p in positions)], jobs=1)
    assert len(judge) <= len(positions)
    for position in positions:
        assert list(judge.scores(position)) == solver.scores(position)
        assert judge.scores(position.mirror()) == judge.scores(position)[::-1]


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupted_judgement_loses_nothing_and_goes_on(tmp_path, jobs):
    positions, begun, seen = late_positions(100), [], []

    def stop(done, total):
        if done >= 40:
            raise KeyboardInterrupt

    with a_judge(tmp_path) as judge, pytest.raises(KeyboardInterrupt):
        judge.judge(positions, jobs=jobs, watch=stop)
    for _ in range(2):
        begun.append((tmp_path / "scores.jsonl").read_bytes().count(b"\n"))
        with a_judge(tmp_path) as judge:
            assert len(judge) == begun[-1] >= 40
            judge.judge(positions, jobs=jobs, watch=lambda *done: seen.append(done))
    assert begun[0] == seen[0][0] < begun[1] == len(judge)
    assert seen[-2:] == [(begun[1], begun[1])] * 2  # the second time nothing was solved
    alone = a_judge()
    assert [judge.scores(p) for p in positions] == [alone.scores(p) for p in positions]


def test_the_stages_of_the_sets_follow_one_another():
    discs, plies = ({name.split("-")[i]: of[i] for name, of in STAGES.items()} for i in (0, 1))
    for stage, difficulty in (name.split("-") for name in STAGES):
        assert STAGES[f"{stage}-{difficulty}"] == (discs[stage], plies[difficulty])
    assert [*discs["begin"], *discs["middle"], *discs["end"]] == [*range(1, CELLS)]
    assert [*plies["easy"], *plies["medium"], *plies["hard"]] == [*range(1, CELLS)]


def test_made_positions_are_of_the_set_and_labelled_right(monkeypatch):
    monkeypatch.setitem(STAGES, "end-easy", (range(30, 35), range(5, 9)))
    made = make_positions("end-easy", 30, 5, SOLVER)
    assert len({p.position for p in made}) == 30
    for labelled in made:
        position, score = labelled.position, labelled.score
        assert position.outcome is None
        assert 30 <= position.plies <= 34
        assert SOLVER.score(position) == score
        assert 5 <= SOLVER.plies_to_end(position) <= 8


def test_a_bad_file_is_refused_with_the_line(tmp_path):
    for text, words in (
        ("44 1\n48 2\n", "line 2"),
        ("44\n", "line 1"),
        ("44 one\n", "expected moves and a score"),
        ("", "has no position: expected lines of moves and a score"),
    ):
        (tmp_path / "set.txt").write_text(text)
        with pytest.raises(UnreadableRun, match=words):
            read_positions(tmp_path / "set.txt")


def test_the_empty_board_is_read_as_it_is_written(tmp_path):
    (tmp_path / "set.txt").write_text("- 1\n")
    assert read_positions(tmp_path / "set.txt")[0].position == Position()


def test_sets_are_files_or_made_and_each_position_counts_once(tmp_path):
    path = tmp_path / "set.txt"
    path.write_text(format_labelled(SET))
    assert positions_of_sets([str(path), str(path)], None) == SET
    assert positions_of_sets([str(path)], 4) == SET[:4]
    assert positions_of_sets(["end-easy"], 30, 3) == SET
    path.write_text("1212121 -18\n")
    with pytest.raises(InvalidOption, match="1212121: the game is over"):
        positions_of_sets([str(path)], None)
    wrong = SET[2]._replace(score=-SET[2].score or 1)
    path.write_text(format_labelled([*SET[:2], wrong]))
    assert positions_of_sets([str(path)], 2) == SET[:2]
    with pytest.raises(
        InvalidOption, match=f"{wrong.moves} is labelled {wrong.score}; its score is"
    ):
        positions_of_sets([str(path)], None)


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
