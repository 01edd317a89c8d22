"""Models of Stable-Baselines3 as agents, and the boards it trains on."""

import importlib
import sys

import pytest

from c4env import ConnectFourEnv, Position, agents
from c4env.errors import InvalidOption

reason = "needs stable-baselines3 and sb3-contrib: the extra sb3"
stable_baselines3 = pytest.importorskip("stable_baselines3", reason=reason)
sb3_contrib = pytest.importorskip("sb3_contrib", reason=reason)

from stable_baselines3.common.env_checker import check_env  # noqa: E402  # needs the library
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize  # noqa: E402

SMALL = {"policy_kwargs": {"net_arch": [8]}, "device": "cpu", "seed": 1}


def test_a_policy_that_needs_more_than_an_observation_is_refused(tmp_path):
    model = sb3_contrib.RecurrentPPO("MlpLstmPolicy", ConnectFourEnv(), **SMALL)
    model.save(tmp_path / "model.zip")
    for made, who in ((model, ""), (f"sb3:{tmp_path / 'model.zip'}", "model.zip: ")):
        message = f"{who}policy .* a distribution that needs only observations"
        with pytest.raises(InvalidOption, match=message):
            agents.make(made)


def test_a_model_of_normalised_observations_is_refused():
    for norm_obs in (False, True):
        env = VecNormalize(DummyVecEnv([ConnectFourEnv]), norm_obs=norm_obs)
        model = stable_baselines3.PPO("MlpPolicy", env, **SMALL)
        if norm_obs:
            with pytest.raises(InvalidOption, match="VecNormalize"):
                agents.make(model)
        else:
            assert agents.make(model).choose(Position()) in range(7)


def test_the_libraries_own_check_passes():
    # Flat as it is by default: of anything else the check supposes that it is an image.
    check_env(ConnectFourEnv())
    check_env(ConnectFourEnv(dtype="float32"))


NETS = """
import torch
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor

class Extractor(BaseFeaturesExtractor):
    def __init__(self, space):
        super().__init__(space, 8)
        self.net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(84, 8))

    def forward(self, x):
        return self.net(x)
"""


def test_modules_of_the_user_lie_beside_the_file_or_in_the_working_folder(tmp_path, monkeypatch):
    beside, here = tmp_path / "beside", tmp_path / "here"
    beside.mkdir()
    here.mkdir()
    (beside / "nets_of_a_test.py").write_text(NETS)
    monkeypatch.setattr(sys, "path", [*sys.path, str(beside)])
    extractor = importlib.import_module("nets_of_a_test").Extractor
    settings = SMALL | {"policy_kwargs": {"features_extractor_class": extractor}}
    stable_baselines3.PPO("MlpPolicy", ConnectFourEnv(), **settings).save(beside / "model.zip")
    monkeypatch.chdir(here)

    def made(path):
        monkeypatch.setattr(sys, "path", [p for p in sys.path if not p.startswith(str(tmp_path))])
        monkeypatch.delitem(sys.modules, "nets_of_a_test", raising=False)
        return agents.make(f"sb3:{path}").choose(Position())

    first = made(beside / "model.zip")
    (here / "nets_of_a_test.py").write_text(NETS)
    (beside / "model.zip").rename(tmp_path / "model.zip")
    assert made("../model.zip") == first
    monkeypatch.chdir(tmp_path)
    message = (
        r"'nets_of_a_test': expected nets_of_a_test\.py beside the file, in .* or in PYTHONPATH"
    )
    with pytest.raises(InvalidOption, match=message):
        made("model.zip")
