"""The network of self-play: what it sees, its file, and that all doors ask it alike."""

from __future__ import annotations

import numpy as np
import pytest

from c4env import Position
from c4env.errors import InvalidOption
from c4env.observation import observe
from tests.helpers import reference

torch = pytest.importorskip("torch", reason="needs torch: pip install torch")
torch.set_num_threads(1)  # a second one would but wait on a busy machine

from c4env.agents.selfplay.network import Evaluator, SelfPlayNetwork, tensor_of  # noqa: E402  # needs torch


def boards_of(positions):
    return np.array([(p.mine, p.theirs) for p in positions], np.int64)


@pytest.fixture
def evaluator():
    torch.manual_seed(1)
    return Evaluator(SelfPlayNetwork(4, 8, 1))


def test_the_planes_show_discs_threats_and_where_discs_fall():
    position = Position.parse("4142437")  # the second player to move
    planes = tensor_of(boards_of([position]))[0].numpy()
    seen = observe(position)["observation"]
    assert np.array_equal(planes[0], seen[:, :, 0])
    assert np.array_equal(planes[1], seen[:, :, 1])
    assert np.argwhere(planes[2]).tolist() == []
    assert np.argwhere(planes[3]).tolist() == [[2, 3]]  # on top of three in the fourth column
    landing = [[row, column] for row, column in np.argwhere(planes[4]).tolist()]
    assert sorted(landing, key=lambda cell: cell[1]) == [
        *([4, 0], [4, 1], [4, 2], [2, 3], [5, 4], [5, 5], [4, 6])
    ]
    assert not planes[5].any()  # the first player began
    assert tensor_of(boards_of([Position()]))[0, 5].all()


def test_mirrored_planes_are_those_of_the_mirrored_position():
    positions = [Position.parse(m) for m in reference.random_games(940, 20, 3, 30)]
    turned = tensor_of(boards_of(positions), np.ones(len(positions), np.bool_))
    mirrored = tensor_of(boards_of([position.mirror() for position in positions]))
    assert turned.equal(mirrored)


def test_a_file_holds_the_network(tmp_path, evaluator):
    boards = boards_of([Position(), Position.parse("44")])
    evaluator.save(tmp_path / "model.pt")
    for path in (tmp_path, tmp_path / "model.pt"):
        for one, other in zip(
            evaluator.evaluate(boards), Evaluator.load(path).evaluate(boards), strict=True
        ):
            assert np.array_equal(one, other)


def test_observations_and_boards_are_asked_alike(evaluator):
    positions = [Position(), Position.parse("4433")]
    planes = np.stack([observe(position)["observation"] for position in positions])
    logits, values = evaluator(planes)
    assert (logits.shape, values.shape) == ((2, 7), (2,))
    assert (np.abs(values) < 1).all()
    assert np.array_equal(logits, evaluator.evaluate(boards_of(positions))[0])


@pytest.mark.parametrize(
    "content", [None, b"", b"not a model", {"shape": [4, 8, 1]}, {"shape": [4], "weights": {}}]
)
def test_what_is_no_network_is_refused_in_a_line(tmp_path, content):
    path = tmp_path / "model.pt"
    if isinstance(content, dict):
        torch.save(content, path)
    elif content is not None:
        path.write_bytes(content)
    with pytest.raises(InvalidOption, match="expected a folder") as caught:
        Evaluator.load(tmp_path)
    assert "\n" not in str(caught.value)
    assert str(tmp_path) in str(caught.value)
