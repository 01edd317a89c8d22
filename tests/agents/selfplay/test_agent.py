"""A network of self-play as an agent, alone and with search."""

from __future__ import annotations

import numpy as np
import pytest

from c4env import Position, agents, evaluation
from c4env.errors import InvalidOption
from c4env.observation import observe


@pytest.fixture
def folder(tmp_path):
    torch = pytest.importorskip("torch", reason="needs torch: pip install torch")
    from c4env.agents.selfplay.network import Evaluator, SelfPlayNetwork

    torch.set_num_threads(1)
    torch.manual_seed(2)
    Evaluator(SelfPlayNetwork(4, 8)).save(tmp_path / "model.pt")
    return tmp_path


def test_it_plays_with_and_without_search_in_a_tournament(folder):
    specs = [f"selfplay:{folder}", f"selfplay:{folder},simulations=6", "random"]
    result = evaluation.round_robin(specs, openings=0, seed=1)
    assert len(result.games) == 6
    assert all(game.forfeited_by is None for game in result.games)


def test_puct_searches_with_the_network(folder):
    ours = agents.make(f"selfplay:{folder},simulations=30")
    options = "simulations=30,batch=2,choice=improved,follow=true,root_temperature=2"
    puct = agents.make(f"puct:selfplay:{folder},{options}")
    for moves in ("", "44", "4435"):
        for agent in (ours, puct):
            agent.reset(1)
        assert ours.search(Position.parse(moves)) == puct.search(Position.parse(moves))


def test_bad_specs_are_refused(folder, tmp_path):
    with pytest.raises(InvalidOption, match="expected selfplay:PATH"):
        agents.make("selfplay")
    with pytest.raises(InvalidOption, match="nowhere"):
        agents.make(f"selfplay:{tmp_path}/nowhere")
    with pytest.raises(InvalidOption, match="nowhere"):
        agents.make(f"puct:selfplay:{tmp_path}/nowhere")
    with pytest.raises(InvalidOption, match="expected only one of them"):
        agents.make(f"selfplay:{folder},simulations=5,temperature=1.0")
    with pytest.raises(InvalidOption, match="simulations='-1'"):
        agents.make(f"selfplay:{folder},simulations=-1")


def test_mirrored_boards_get_mirrored_answers(folder):
    agent = agents.make(f"selfplay:{folder}")
    planes = np.stack([observe(Position.parse(m))["observation"] for m in ("", "4435", "112")])
    mirrored = agent.preferences(np.ascontiguousarray(planes[:, :, ::-1]))
    assert np.allclose(mirrored, agent.preferences(planes)[:, ::-1], atol=1e-6)
    assert not np.allclose(mirrored[1], agent.preferences(planes)[1], atol=1e-3)
