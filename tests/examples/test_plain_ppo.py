"""The PPO of the guide: that it learns, and that its agent plays the saved weights."""

import pytest

from c4env import Position, agents
from tests.helpers.examples import EXAMPLES, example, share_against_random

torch = pytest.importorskip("torch", reason="needs torch: pip install torch")
torch.set_num_threads(1)  # a second one would but wait on a busy machine


@pytest.mark.slow
def test_a_short_training_beats_random_by_the_spec_of_its_weights(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    example("plain_ppo").train("net.pt", 40_000, every=20_000)
    assert "accuracy" in capsys.readouterr().out  # the curve
    spec = f"{EXAMPLES}/plain_ppo.py:Mine:weights=net.pt"
    assert agents.make(spec).choose(Position()) in range(7)
    assert share_against_random(spec, 2) > 0.6
    searching = agents.make(f"{spec},simulations=20")
    assert searching.choose(Position.parse("121212")) == 0  # wins
    assert searching.choose(Position.parse("44")) == searching.choose(Position.parse("44"))
