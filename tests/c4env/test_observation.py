import itertools
import re

import numpy as np
import pytest

from c4env import Position, observe, position_from, with_mirrors
from c4env.envs.batch import bitboards, boards_from, observed
from c4env.errors import InvalidPosition
from c4env.observation import LAYOUTS, Form, planes_of
from tests.rules import reference

DTYPES = [np.int8, np.uint8, np.int32, np.int64, np.float32, np.float64, np.bool_]


def test_bitboards_in_arrays_of_any_shape_have_the_same_planes():
    boards = bitboards(["", *reference.random_games(5, 40, 1, 36)])
    expected = observed(boards)["observation"]
    assert np.array_equal(planes_of(boards), expected)
    four = np.concatenate([boards, boards[:, ::-1]], axis=1)[:40].reshape(5, 8, 4)
    both = np.concatenate([expected, expected[..., ::-1]], axis=-1)[:40].reshape(5, 8, 6, 7, 4)
    assert np.array_equal(planes_of(four), both)


@pytest.mark.parametrize("dtype", DTYPES)
def test_any_numeric_type_and_layout_is_read(dtype):
    position = Position.parse("44552")
    planes = observe(position)["observation"].astype(dtype)
    assert position_from(planes) == position
    assert position_from({"observation": planes}) == position
    assert position_from(np.asfortranarray(planes)) == position
    assert position_from(planes[:, ::-1]) == position.mirror()
    assert position_from(planes.tolist()) == position


@pytest.mark.parametrize(
    ("layout", "values", "dtypes"),
    [
        ("planes_last", (2, 3, -1, 127, -128), ["int8"]),
        ("planes_last", (256, 257, -255), ["int64"]),
        ("planes_last", (2, 255), ["uint8"]),
        ("planes_last", (0.5, 1.0000001, -1.0), ["float64"]),
        ("planes_first", (2,), ["int8", "float32"]),
        ("flat", (-1,), ["int8", "float32"]),
        ("signed", (2, -128), ["int8", "float32"]),
        ("tokens", (3, -1), ["int8", "float32"]),
    ],
)
def test_other_values_are_refused_whatever_their_type(layout, values, dtypes):
    expected = "0 and 1" + {"signed": " and -1", "tokens": " and 2"}.get(layout, "")
    for dtype in dtypes:
        for value, place in itertools.product(values, (0, -2, -1)):
            seen = Form(layout)(observe(Position())["observation"]).astype(dtype)
            seen.flat[place] = value
            for read in (position_from, lambda one: boards_from(one[None])):
                with pytest.raises(InvalidPosition, match=f"must hold only {expected}"):
                    read(seen)


def test_planes_of_another_shape_are_told_those_expected():
    shapes = " or ".join(str(layout.shape) for layout in LAYOUTS.values())
    with pytest.raises(InvalidPosition, match=re.escape(f"(3, 7, 2): expected {shapes}")):
        position_from(np.zeros((3, 7, 2), np.int8))


def test_a_board_the_mover_cannot_see_is_refused():
    planes = np.zeros((6, 7, 2), np.int8)
    planes[5, 3, 0] = 1  # the observer has a disc too many
    with pytest.raises(InvalidPosition, match="player to move"):
        position_from(planes)


KINDS = {
    "NumPy": np.asarray,
    "lists": np.ndarray.tolist,
    "torch": "from_numpy",
    "jax.numpy": "array",
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_with_its_mirror_images(layout, kind):
    positions = [Position.parse(moves) for moves in ("1", "1122", "777777", "4455")]
    planes = np.stack([observe(position)["observation"] for position in positions])
    masks = np.stack([observe(position)["action_mask"] for position in positions])
    policies = np.random.default_rng(1).random((4, 7), np.float32)
    make = KINDS[kind]
    if isinstance(make, str):
        make = getattr(pytest.importorskip(kind, reason="needs its extra"), make)
    batch = [make(array) for array in (Form(layout)(planes), masks, policies)]
    mirrored = with_mirrors(*batch)
    assert {type(each) for each in mirrored} == {np.ndarray if kind == "lists" else type(batch[0])}
    items = [np.asarray(array) for array in mirrored]
    turned = [observe(position.mirror()) for position in positions]
    expected = np.concatenate([planes, [each["observation"] for each in turned]])
    assert np.array_equal(items[0], Form(layout)(expected))
    assert np.array_equal(items[1], np.concatenate([masks, [t["action_mask"] for t in turned]]))
    assert np.array_equal(items[2], np.concatenate([policies, policies[:, ::-1]]))
    if kind != "lists":
        assert [len(array) for array in with_mirrors(*(array[:0] for array in batch))] == [0, 0, 0]
