"""The callback measures the model in training, and leaves the training as it is."""

import functools

import pytest

from c4env.evaluation.studies.strength import FILE, strength

pytest.importorskip("sb3_contrib", reason="needs sb3-contrib: the extra sb3")
torch = pytest.importorskip("torch")
torch.set_num_threads(1)  # a second one would but wait on a busy machine

FEW = functools.partial(strength, against=("random",), openings=1, questions=10)


def trained(callback):
    """The weights, and what was logged: of each line the step and the figures."""
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.logger import KVWriter, Logger

    from c4env.envs.stable_baselines import ConnectFourVecEnv

    envs = ConnectFourVecEnv(8, "random", dtype="float32")
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
    from c4env.evaluation.studies.stable_baselines import StrengthCallback

    callback = StrengthCallback(tmp_path, every=250, share=0.99, measure=FEW)
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
