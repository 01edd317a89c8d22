"""What is measured of a model in training, when, and where it is written."""

import functools
import json
from types import SimpleNamespace

import numpy as np
import pytest

from c4env import batched
from c4env.agents.solver.exam import exam
from c4env.errors import EngineFault, InvalidAction, Unwritable
from c4env.evaluation.records.jsonl import Lines
from c4env.evaluation.results import training_curve as module
from c4env.evaluation.results.training_curve import (
    FILE,
    CurveWriter,
    Strength,
    accuracy,
    read_curve,
    strength,
)
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
    assert accuracy(knowing(max), 200) == 1
    assert accuracy(knowing(min), 200) == 0
    with pytest.raises((EngineFault, InvalidAction), match="expected"):
        accuracy(batched(lambda seen: np.full(len(seen["observation"]), -1)), 20)


def test_the_stronger_model_has_more_elo():
    few = {"against": ("random", "greedy"), "limit": 2, "questions": 20}
    weak, strong = (strength(spec, 7, 1.5, **few) for spec in ("random", "alphabeta:depth=3"))
    assert (weak.step, weak.seconds, weak.games) == (7, 1.5, 8)
    assert weak.low <= weak.elo <= weak.high
    assert weak.elo < strong.elo
    assert weak.score < strong.score
    assert strong.accuracy > weak.accuracy


def test_measurements_keep_to_their_share_of_the_time(tmp_path, monkeypatch):
    now = 100.0
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now))

    def measure(model, step, seconds):
        nonlocal now
        now += 5  # what a measurement costs
        return Strength(step, seconds, 0.25, 1.0, 0.0, 2.0, 0.5, 4)

    writer = CurveWriter(tmp_path, 0.1, measure)
    taken = []
    for step in range(1, 401):
        now += 1
        if writer.measure(None, step):
            taken.append(step)
        assert writer.spent <= max(5, 0.1 * (now - 100))
    assert 5 <= len(taken) <= 9
    assert writer.spent == 5 * len(taken)
    assert CurveWriter(tmp_path, 0.1, measure).measure(None, 401)  # a file goes on where it was
    rows = read_curve(tmp_path).rows
    assert [row.step for row in rows] == [*taken, 401]
    assert rows[0] == (1, 1, 0.25, 1, 0, 2, 0.5, 4)


def numpys(model, step, seconds):
    """A measurement as a user's own function may give it."""
    step, games = np.int64(step), np.int64(4)
    return Strength(step, seconds, np.float32(0.25), np.float64(1), 0, 2, 0.5, games)


def test_a_curve_is_appended_and_survives_a_kill(tmp_path):
    file = tmp_path / "new" / "folder" / FILE
    for step in (1_234_567, 2_345_678):
        assert CurveWriter(file.parent, measure=numpys).measure(None, step)
    whole = file.read_text()
    first, _ = whole.splitlines()
    assert list(json.loads(first)) == list(Strength._fields)
    file.write_text(whole + first[:20])  # which the kill cut short
    assert [row.step for row in read_curve(file.parent).rows] == [1_234_567, 2_345_678]
    assert CurveWriter(file.parent, measure=numpys).measure(None, 3_456_789)
    assert file.read_text().startswith(whole)
    assert [row.step for row in read_curve(file.parent).rows] == [1_234_567, 2_345_678, 3_456_789]


def test_a_curve_that_another_process_writes_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "LOCK_SECONDS", 0)
    writer = CurveWriter(tmp_path, measure=numpys)
    with Lines(tmp_path / FILE), pytest.raises(Unwritable, match="another process"):
        writer.measure(None, 1)
    assert read_curve(tmp_path).rows == []


def test_a_measurement_is_printed_rounded():
    result = Strength(7, 1.26, 0.1234567, 12.345, -3.21, 30.6, 0.5512345, 48)
    message = "step 7, 1 s: accuracy 12.3%, Elo +12 (-3 .. +31), score 55.1% of 48 games"
    assert str(result) == message


def trained(callback):
    """The weights, and what was logged: of each line the step and the figures."""
    import torch
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.logger import KVWriter, Logger

    from c4env.envs.stable_baselines import ConnectFourVecEnv

    envs = ConnectFourVecEnv(8, "random", dtype="float32")
    torch.set_num_threads(1)  # a second one would but wait on a busy machine
    model = MaskablePPO("MlpPolicy", envs, n_steps=8, batch_size=64, seed=3, device="cpu")
    logged = []

    class Lines(KVWriter):
        def write(self, key_values, key_excluded, step=0):
            assert key_values.keys() == key_excluded.keys()
            logged.append((step, dict(key_values)))

        def close(self):
            pass

    model.set_logger(Logger(None, [Lines()]))
    model.learn(320, callback=callback)
    return [parameter.tolist() for parameter in model.policy.parameters()], logged


@pytest.mark.slow
@pytest.mark.compiled
def test_the_callback_measures_and_changes_nothing(tmp_path):
    pytest.importorskip("sb3_contrib", reason="needs sb3-contrib: the extra sb3")
    from c4env.evaluation.results.sb3_callback import StrengthCallback

    few = functools.partial(strength, against=("random",), limit=1, questions=10)
    callback = StrengthCallback(tmp_path, every=250, share=0.99, measure=few)
    weights, logged = trained(callback)
    own = [(step, line) for step, line in logged if "strength/elo" in line]
    others = [(step, line.keys()) for step, line in logged if "strength/elo" not in line]
    plain, lines = trained(None)
    assert weights == plain
    assert others == [(step, line.keys()) for step, line in lines]
    steps = [row.step for row in read_curve(tmp_path).rows]
    assert steps[0] == 256  # the first step of eight boards from 250 on
    assert [step for step, _ in own] == steps
    assert all(0 <= line["strength/accuracy"] <= 1 for _, line in own)
