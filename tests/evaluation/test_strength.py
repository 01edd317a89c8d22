"""What is measured of a model in training, when, and where it is written."""

import functools
from types import SimpleNamespace

import numpy as np
import pytest

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
    few = {"against": ("random", "greedy"), "limit": 2, "questions": 20}
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


@pytest.mark.compiled
def test_the_callback_measures_and_changes_nothing(tmp_path):
    pytest.importorskip("sb3_contrib", reason="needs sb3-contrib: the extra sb3")
    from c4env.evaluation.studies.stable_baselines import StrengthCallback

    few = functools.partial(strength, against=("random",), limit=1, questions=10)
    callback = StrengthCallback(tmp_path, every=250, share=0.99, measure=few)
    weights, logged = trained(callback)
    own = [(step, line) for step, line in logged if "strength/elo" in line]
    others = [(step, line.keys()) for step, line in logged if "strength/elo" not in line]
    plain, lines = trained(None)
    assert weights == plain
    assert others == [(step, line.keys()) for step, line in lines]
    steps = [line.split("\t")[0] for line in (tmp_path / FILE).read_text().splitlines()]
    assert steps[0] == "step"
    assert steps[1] == "256"  # the first step of eight boards from 250 on
    assert [str(step) for step, _ in own] == steps[1:]
    assert all(0 <= line["strength/blunders"] <= 1 for _, line in own)
