from __future__ import annotations

import numpy as np
import pytest

from c4env import agents
from c4env.agents.solver import Solver
from c4env.errors import InvalidOption
from c4env.evaluation.__main__ import main
from c4env.evaluation.exact.questions import ANSWERS_FILE, make_labelled, question_agents
from c4env.evaluation.exact.scores import Judge
from tests.helpers.positions import format_labelled

SOLVER = Solver(book=None, table_mb=1)
SET = make_labelled("end-easy", 30, 3, SOLVER)


@pytest.fixture
def judge():
    return Judge(book=None, table_mb=1)


def breaks_down(observation):
    """Has no answer when the board holds an odd number of discs."""
    if observation["observation"].sum() % 2:
        raise RuntimeError("odd")
    return int(np.flatnonzero(observation["action_mask"])[0])


@pytest.mark.compiled  # the perfect agent reads its book
def test_perfect_answers_are_perfect_and_every_agent_gets_the_same_questions(judge):
    quality = question_agents(["random", "perfect:table_mb=1", "greedy"], SET, judge)
    assert quality.players[0] == "perfect:table_mb=1"
    perfect, *others = quality.overall()
    assert perfect.optimal.value == 1
    for other in others:
        assert (other.moves, other.forced, other.critical) == perfect[3:6]
    for judged in quality.moves:
        position = next(p.position for p in SET if p.moves == judged.group)
        assert list(judged.scores) == SOLVER.scores(position)
        assert judged.ply == position.plies


def test_answers_are_kept_and_go_on(tmp_path, judge):
    specs = ["random", "greedy"]
    whole = question_agents(specs, SET, judge, folder=tmp_path / "whole")

    def stop(done, total):
        assert total == 60
        if done == 37:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        question_agents(specs, SET, judge, folder=tmp_path, watch=stop)
    path = tmp_path / ANSWERS_FILE
    assert path.read_text().count("\n") == 1 + 37
    assert question_agents(specs, SET, judge, folder=tmp_path).moves == whole.moves
    assert path.read_text() == (tmp_path / "whole" / ANSWERS_FILE).read_text()
    question_agents(specs, SET, judge, folder=tmp_path)
    assert path.read_text().count("\n") == 1 + 60
    question_agents(specs, SET, judge, seed=1, folder=tmp_path)
    assert path.read_text().count("\n") == 1 + 120


def test_an_agent_without_an_answer_is_noted(judge):
    agents.register("answers-breaks-down", breaks_down)
    quality = question_agents(["answers-breaks-down", "greedy"], SET, judge)
    odd = sum(p.position.plies % 2 for p in SET)
    moves = {q.player: q.moves + q.forced for q in quality.overall()}
    assert moves == {"greedy": 30, "answers-breaks-down": 30 - odd}
    assert f"{odd} positions without an answer, answers-breaks-down: exception" in quality.text()
    with pytest.raises(InvalidOption, match="no agent answered"):
        question_agents(["answers-breaks-down"], [p for p in SET if p.position.plies % 2], judge)


def test_the_command_asks_agents(tmp_path, capsys):
    path = tmp_path / "set.txt"
    path.write_text(format_labelled(SET))
    command = ["quality", "greedy", "random", "--on", str(path), "--out", str(tmp_path / "kept")]
    assert main(command) == 0
    first = capsys.readouterr()
    assert "bootstrap over 30 positions" in first.out
    assert not first.err  # no bar where there is no terminal
    assert main([*command, "--quiet"]) == 0
    again = capsys.readouterr()
    assert again.out == first.out
    assert again.err == ""
    assert {p.name for p in (tmp_path / "kept").iterdir()} == {"answers.jsonl", "scores.jsonl"}
