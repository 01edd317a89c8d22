"""The networks of self-play: as agents, on their own, and their optimiser."""

import numpy as np
import pytest

from c4env import Position, agents
from c4env.envs.batch import bitboards, observed
from c4env.errors import InvalidOption
from c4env.observation import observe
from tests.rules import reference

torch = pytest.importorskip("torch", reason="needs torch: pip install torch")
torch.set_num_threads(1)  # a second one would but wait on a busy machine

from c4env.agents.selfplay.convnet import (  # noqa: E402  # needs torch
    RATES,
    Evaluator,
    Optimiser,
    SelfPlayNetwork,
    tensor_of,
)

# -- as an agent --------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    torch.manual_seed(2)
    Evaluator(SelfPlayNetwork(4, 8)).save(tmp_path / "model.pt")
    return tmp_path


def test_puct_searches_with_the_network(folder):
    ours = agents.make(f"selfplay:{folder},simulations=30")
    options = "simulations=30,batch=2,choice=improved,follow=true,root_temperature=2"
    puct = agents.make(f"puct:selfplay:{folder},{options}")
    for moves in ("", "44", "4435"):
        for agent in (ours, puct):
            agent.reset(1)
        assert ours.search(Position.parse(moves)) == puct.search(Position.parse(moves))


def test_bad_specs_are_refused(folder):
    for spec, words in (
        ("selfplay", "expected selfplay:PATH"),
        (f"selfplay:{folder}/nowhere", "nowhere"),
        (f"puct:selfplay:{folder}/nowhere", "nowhere"),
        (f"selfplay:{folder},simulations=5,temperature=1.0", "expected only one of them"),
        (f"selfplay:{folder},simulations=-1", "simulations='-1'"),
    ):
        with pytest.raises(InvalidOption, match=words):
            agents.make(spec)


def test_mirrored_boards_get_mirrored_answers(folder):
    agent = agents.make(f"selfplay:{folder}")
    planes = observed(bitboards(["", "4435", "112"]))["observation"]
    mirrored = agent.network.source(np.ascontiguousarray(planes[:, :, ::-1]))
    assert np.allclose(mirrored, agent.network.source(planes)[:, ::-1], atol=1e-6)
    assert not np.allclose(mirrored[1], agent.network.source(planes)[1], atol=1e-3)


# -- the network --------------------------------------------------------------------------


@pytest.fixture
def evaluator():
    torch.manual_seed(1)
    return Evaluator(SelfPlayNetwork(4, 8, 1))


def test_the_planes_show_discs_threats_and_where_discs_fall():
    position = Position.parse("4142437")  # the second player to move
    planes = tensor_of(bitboards(position))[0].numpy()
    seen = observe(position)["observation"]
    assert np.array_equal(planes[0], seen[:, :, 0])
    assert np.array_equal(planes[1], seen[:, :, 1])
    assert np.argwhere(planes[2]).tolist() == []
    assert np.argwhere(planes[3]).tolist() == [[2, 3]]  # on top of three in the fourth column
    landing = [[4, 0], [4, 1], [4, 2], [2, 3], [5, 4], [5, 5], [4, 6]]
    assert np.argwhere(planes[4].T)[:, ::-1].tolist() == landing  # column by column
    assert not planes[5].any()  # the first player began
    assert tensor_of(bitboards(""))[0, 5].all()


def test_mirrored_planes_are_those_of_the_mirrored_position():
    positions = [Position.parse(m) for m in reference.random_games(940, 20, 3, 30)]
    turned = tensor_of(bitboards(positions), np.ones(len(positions), np.bool_))
    mirrored = tensor_of(bitboards([position.mirror() for position in positions]))
    assert turned.equal(mirrored)


def test_it_computes_in_one_thread(evaluator):
    seen = []
    evaluator.network.register_forward_hook(lambda *_: seen.append(torch.get_num_threads()))
    torch.set_num_threads(2)
    try:
        evaluator.evaluate(bitboards([""]))
        assert (seen, torch.get_num_threads()) == ([1], 2)
    finally:
        torch.set_num_threads(1)


def test_a_file_holds_the_network(tmp_path, evaluator):
    boards = bitboards(["", "44"])
    evaluator.save(tmp_path / "model.pt")
    saved = evaluator.evaluate(boards)
    for path in (tmp_path, tmp_path / "model.pt"):
        for one, other in zip(saved, Evaluator.load(path).evaluate(boards), strict=True):
            assert np.array_equal(one, other)


def test_new_blocks_change_no_answer_before_they_learn(evaluator):
    boards = bitboards(["", "4435"])
    before = evaluator.evaluate(boards)
    evaluator.network.grow(2)
    assert evaluator.network.shape[-1] == len(evaluator.network.blocks) == 2
    for ours, theirs in zip(before, evaluator.evaluate(boards), strict=True):
        assert np.allclose(ours, theirs, atol=1e-6)


def test_observations_and_boards_get_the_same_answers(evaluator):
    boards = bitboards(["", "4433"])
    logits, values = evaluator(observed(boards)["observation"])
    assert (logits.shape, values.shape) == ((2, 7), (2,))
    assert (np.abs(values) < 1).all()
    assert np.array_equal(logits, evaluator.evaluate(boards)[0])


@pytest.mark.parametrize(
    "content", [None, b"", b"not a model", {"shape": [4, 8, 1]}, {"shape": [4], "weights": {}}]
)
def test_a_file_without_a_network_is_refused_in_one_line(tmp_path, content):
    path = tmp_path / "model.pt"
    if isinstance(content, dict):
        torch.save(content, path)
    elif content is not None:
        path.write_bytes(content)
    with pytest.raises(InvalidOption, match="expected a folder") as caught:
        Evaluator.load(tmp_path)
    assert "\n" not in str(caught.value)
    assert str(tmp_path) in str(caught.value)


def test_a_matrix_within_moves_as_far_in_every_direction(evaluator):
    network = evaluator.network
    matrix = network.hidden()[-1]
    before = matrix.detach().clone()
    logits, _ = network(tensor_of(bitboards(["", "4", "44", "4435", "112"])))
    Optimiser(network).step((logits - torch.eye(5, 7)).square().mean(), 0.5)
    lengths = torch.linalg.svdvals((matrix.detach() - before) / (0.5 * RATES[0]))
    gradient = torch.linalg.svdvals(matrix.grad)
    assert 0.6 < lengths[0] < 1.4
    assert gradient[0] / gradient[2] > 2 * lengths[0] / lengths[2]
