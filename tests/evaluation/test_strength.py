"""What is measured of a model in training, when, and where it is written."""

from types import SimpleNamespace

import numpy as np

from c4env import batched
from c4env.agents.solver.exam import exam
from c4env.evaluation.studies import strength as module
from c4env.evaluation.studies.strength import FILE, Strength, Watch, blunder_rate, strength
from c4env.observation import observe


def knowing(pick):
    """A model of many boards that plays the exam's best or worst columns."""
    known = {}
    for question in exam():
        columns = [c for c, score in enumerate(question.scores) if score is not None]
        column = pick(columns, key=question.scores.__getitem__)
        known[observe(question.position)["observation"].tobytes()] = column

    @batched
    def model(observations):
        planes = observations["observation"]
        return np.array([known[np.ascontiguousarray(p).tobytes()] for p in planes])

    return model


def test_the_exam_tells_who_knows_it():
    assert blunder_rate(knowing(max), 200) == 0
    assert blunder_rate(knowing(min), 200) == 1


def test_the_stronger_model_has_more_elo():
    few = {"against": ("random", "greedy"), "openings": 2, "questions": 20}
    weak, strong = (strength(spec, 7, 1.5, **few) for spec in ("random", "alphabeta:depth=3"))
    assert (weak.step, weak.seconds, weak.games) == (7, 1.5, 8)
    assert weak.low <= weak.elo <= weak.high
    assert weak.elo < strong.elo
    assert weak.score < strong.score
    assert strong.blunders < weak.blunders


def test_looks_keep_to_their_share_of_the_time(tmp_path, monkeypatch):
    now = 100.0
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now))

    def measure(model, step, seconds):
        nonlocal now
        now += 5  # what a look costs
        return Strength(step, seconds, 0.25, 1.0, 0.0, 2.0, 0.5, 4)

    watch = Watch(tmp_path, 0.1, measure)
    taken = []
    for step in range(1, 401):
        now += 1
        if watch.look(None, step):
            taken.append(step)
        assert watch.spent <= max(5, 0.1 * (now - 100))
    assert 5 <= len(taken) <= 9
    assert watch.spent == 5 * len(taken)
    assert Watch(tmp_path, 0.1, measure).look(None, 401)  # a file goes on where it was
    lines = (tmp_path / FILE).read_text().splitlines()
    assert lines[0].split("\t") == list(Strength._fields)
    assert [int(line.split("\t")[0]) for line in lines[1:]] == [*taken, 401]
    assert lines[1] == "1\t1\t0.25\t1\t0\t2\t0.5\t4"


def test_a_measurement_is_printed_rounded():
    found = Strength(7, 1.26, 0.1234567, 12.345, -3.21, 30.6, 0.5512345, 48)
    said = "step 7, 1 s: 12.3% blunders, Elo +12 (-3 .. +31), score 55.1% of 48 games"
    assert str(found) == said
