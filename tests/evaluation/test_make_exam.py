"""Exams as arrays, and fresh ones of a seed."""

import numpy as np
import pytest

from c4env import agents, evaluation
from c4env.agents.solver.exam import exam as questions
from c4env.agents.solver.exam import held_out, in_exam
from c4env.errors import InvalidOption
from c4env.evaluation.exact import make_exam as recipe
from c4env.observation import observe, position_from
from tests.rules.positions import quiet


def test_the_arrays_are_the_exam():
    e = evaluation.exam()
    assert len(e) == len(questions()) == len(e.keeps)
    assert e.critical.all()
    for row, question in zip(range(0, len(e), 50), questions()[::50], strict=False):
        position = question.position
        assert (e.mine[row], e.theirs[row]) == (position.mine, position.theirs)
        assert e.ply[row] == position.plies
        assert [None if s == -99 else s for s in e.columns[row].tolist()] == [*question.scores]
        assert e.masks[row].tolist() == [s is not None for s in question.scores]
    for layout in ("planes_last", "flat", "planes_first", "signed", "tokens"):
        row = e.observations(layout, "float32")[7]
        assert position_from(row) == questions()[7].position
    assert np.array_equal(e.observations()[7], observe(questions()[7].position)["observation"])


@pytest.mark.compiled
def test_a_line_of_the_loop_is_the_number_of_quality():
    count = 300
    e, greedy = evaluation.exam(), agents.make("alphabeta-window:depth=1")
    columns = np.array([greedy.choose(q.position) for q in questions()[:count]])
    accuracy = e.keeps[np.arange(count), columns].mean()
    assert {e.keeps.dtype, e.masks.dtype} == {np.dtype(bool)}  # as inside jax.jit
    judged = evaluation.quality("alphabeta-window:depth=1", count=count)
    assert judged.overall()[0].accuracy.value == pytest.approx(accuracy, abs=1e-12)


@pytest.mark.compiled
def test_a_fresh_exam_is_of_its_seed_and_by_the_recipe(monkeypatch, tmp_path):
    monkeypatch.setattr(recipe, "PLIES", range(20, 37))  # quickly labelled
    monkeypatch.setattr(recipe.build, "__defaults__", (80, 3, 1, None, ()))  # games, a_ply
    e = evaluation.exam(7, jobs=1)
    again, other = evaluation.exam(7, jobs=1), evaluation.exam(8, jobs=1)
    assert np.array_equal(e.mine, again.mine)
    assert np.array_equal(e.columns, again.columns)
    assert len(e) > 5
    assert not {*e.mine.tolist()} & {*other.mine.tolist()}
    assert not in_exam(e.mine, e.theirs).any()
    assert held_out(e.mine, e.theirs).all()
    assert e.critical.all()
    judged = evaluation.quality("perfect", "fresh:7", jobs=1)
    assert (len(judged.moves), judged.overall()[0].blunders) == (len(e), 0)
    assert judged.notes[0].startswith("fresh:7, by the recipe of exam 1")
    for moves in recipe.play((1,), range(3)):
        assert quiet(recipe.Position.parse(moves))


def test_seeds_of_fresh_exams():
    with pytest.raises(InvalidOption, match=r"set 'fresh:x': expected fresh:SEED"):
        evaluation.quality("greedy", "fresh:x")
    with pytest.raises(InvalidOption, match="fresh:-1"):
        evaluation.exam(-1)
