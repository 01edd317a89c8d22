"""The short PPO: that it learns, that it repeats, and what it says meanwhile."""

from functools import partial

import pytest

from tests.helpers.examples import EXAMPLES, example, require_whole_games, share_against_random
from tests.helpers.processes import run_python

torch = pytest.importorskip("torch", reason="needs torch: pip install torch")
torch.set_num_threads(1)  # a second one would but wait on a busy machine

ppo = example("ppo")


def test_the_script_trains_and_a_spec_names_its_agent(tmp_path):
    script = EXAMPLES / "ppo.py"
    run_python(script, tmp_path / "m.pt", "--steps", 1, "--boards", 2, check=True)
    spec = f"{script}:TorchPPO:path={tmp_path / 'm.pt'}"
    require_whole_games(spec)


def test_the_same_seed_trains_the_same_network(tmp_path):
    def trained(seed):
        ppo.train(tmp_path / "m.pt", 400, seed, boards=8, length=16)
        return torch.load(tmp_path / "m.pt", weights_only=True)["value.weight"]

    assert trained(1).equal(trained(1))
    assert not trained(1).equal(trained(2))


@pytest.mark.isolated  # a learner: test_alphazero has the cheap one
def test_a_short_training_beats_random(tmp_path):
    ppo.train(tmp_path / "m.pt", 20_000, 1, boards=64)
    agent = ppo.TorchPPO(str(tmp_path / "m.pt"))
    assert share_against_random(agent) > 0.72  # three seeds: 0.82


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # PyTorch's own, within its compiler
def test_compiled_rollouts_train_the_same_network(tmp_path, monkeypatch):
    plain = ppo.train(tmp_path / "m.pt", 400, 1, boards=8, length=16)
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="eager"))
    compiled = ppo.train(tmp_path / "m.pt", 400, 1, boards=8, length=16, compile=True)
    assert compiled.value.weight.equal(plain.value.weight)


def test_nothing_is_read_back_from_the_device(tmp_path, monkeypatch):
    """Tensors on ``meta`` hold no values; whatever asks for one raises an error."""
    monkeypatch.setattr(ppo, "figures", lambda *_: "")  # they are values
    network = ppo.train(tmp_path / "m.pt", 1, 1, "meta", 8, length=4)
    assert {parameter.device.type for parameter in network.parameters()} == {"meta"}
