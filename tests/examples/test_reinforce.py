"""REINFORCE on exact rewards: that it learns, and that its agent plays the saved weights."""

import pytest

from c4env import Position, agents
from tests.helpers.examples import EXAMPLES, example

torch = pytest.importorskip("torch", reason="needs torch: pip install torch")
torch.set_num_threads(1)  # a second one would but wait on a busy machine


@pytest.mark.slow
def test_a_short_training_by_either_reward_learns_and_its_weights_play(tmp_path, capsys):
    script = example("reinforce")
    files = {reward: str(tmp_path / f"{reward}.pt") for reward in ("exact", "result")}
    nets = {reward: script.train(file, reward, updates=120) for reward, file in files.items()}
    assert "120 updates: " in capsys.readouterr().out
    torch.manual_seed(1)
    assert script.mark(nets["exact"]) > script.mark(script.Net()) + 0.02
    same = [
        all(map(torch.equal, net.parameters(), nets["exact"].parameters())) for net in nets.values()
    ]
    assert same == [True, False]  # the option counts
    played = agents.make(f"{EXAMPLES}/reinforce.py:Mine:weights={files['exact']}")
    live = agents.make(nets["exact"])
    for moves in ("", "44", "453"):
        assert played.choose(Position.parse(moves)) == live.choose(Position.parse(moves))
