"""Boards for Stable-Baselines3: what that library asks of them."""

import pickle

import numpy as np
import pytest

from c4env import ConnectFourEnv, Position
from c4env.errors import InvalidOption
from tests.helpers.policies import first_legal, rightmost

pytest.importorskip("stable_baselines3", reason="needs stable-baselines3: the extra sb3")

from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import DummyVecEnv

from c4env.envs.stable_baselines import ConnectFourVecEnv


def test_all_it_returns_is_what_single_environments_return():
    given = {"layout": "planes_first", "dtype": "float32", "openings": ["44", "1212", "7"]}
    ours = ConnectFourVecEnv(6, "greedy", **given)
    theirs = DummyVecEnv([lambda: ConnectFourEnv("greedy", **given)] * 6)
    choose, ended = np.random.default_rng(1), 0
    for options in (
        None,
        {"moves": "4455", "seat": 1},
        [{"moves": "4" * plies, "seat": 0} for plies in range(6)],
        [{"position": "44"}, *[{"moves": "4455"}] * 5],
    ):
        for envs in (ours, theirs):
            envs.seed(3)
            envs.set_options(options)
        for resets in ("asked for", "options are played once"):
            np.testing.assert_equal(ours.reset(), theirs.reset(), resets)
            np.testing.assert_equal(ours.reset_infos, theirs.reset_infos)
        for _ in range(30):
            np.testing.assert_equal(ours.action_masks(), masks_of(theirs))
            masks = ours.action_masks() + (choose.random((6, 1)) < 0.05)
            actions = (choose.random(masks.shape) * masks).argmax(axis=1)
            result = ours.step(actions)
            np.testing.assert_equal(result, theirs.step(actions))
            np.testing.assert_equal(ours.reset_infos, theirs.reset_infos)
            ended += result[2].sum()
    assert ended > 60
    assert ours.env_method("action_masks", indices=[2])[0].tolist() == masks_of(ours)[2].tolist()
    again, actions = pickle.loads(pickle.dumps(ours)), masks_of(ours).argmax(axis=1)
    np.testing.assert_equal(again.step(actions), ours.step(actions))


def masks_of(envs):
    return np.stack(envs.env_method("action_masks"))


def test_options_that_cannot_be_are_refused_at_the_reset():
    envs = ConnectFourVecEnv(2, "greedy", seat=0)
    envs.reset()
    for options, words in (
        ({"mooves": "44"}, "unknown option mooves: expected moves or position or seat"),
        ({"reset_mask": [True, False]}, "unknown option reset_mask"),
        ([{"moves": "44"}], "options of 1 boards: expected one dict, or 2"),
        ([{"moves": "44"}, {}], "expected a start for each, and one seat for all"),
        ([{"moves": "44", "seat": 0}, {"moves": "4", "seat": 1}], "expected a start for each"),
        ([{"moves": "48"}, {"moves": "4"}], "move 2, '8', is not a column"),
    ):
        envs.set_options(options)
        with pytest.raises(ValueError, match=words):
            envs.reset()
    envs.set_options()
    assert not envs.reset().any()


def test_another_opponent_plays_on_all_boards():
    envs = ConnectFourVecEnv(3, lambda o: 0, seat=0)
    envs.reset()
    envs.set_attr("opponent", rightmost)
    assert envs.get_attr("opponent") == [rightmost] * 3
    seen, *_ = envs.step(np.array([3, 3, 3]))
    assert (np.argwhere(seen.reshape(3, 6, 7, 2)[..., 1])[:, 2] == 6).all()
    for name, value, indices in (("seat", 1, None), ("opponent", rightmost, [0])):
        with pytest.raises(AttributeError, match=f"{name}.*only 'opponent' of all boards"):
            envs.set_attr(name, value, indices)
    with pytest.raises(InvalidOption, match="opponent=None"):
        envs.set_attr("opponent", None)


def test_an_opponent_is_set_by_a_method_in_every_vec_env():
    """``set_attr`` of Stable-Baselines3 sets an attribute of the Monitor around a board."""
    for envs in (
        ConnectFourVecEnv(2, first_legal, seat=1),
        make_vec_env("c4env/ConnectFour-v0", 2, env_kwargs={"seat": 1, "opponent": first_legal}),
    ):
        assert envs.env_method("set_opponent", rightmost) == [None] * 2
        assert np.argwhere(envs.reset().reshape(2, 6, 7, 2)).tolist() == [
            [i, 5, 6, 1] for i in (0, 1)
        ]
        assert envs.get_attr("position", 1) == [Position.parse("7")]
    with pytest.raises(AttributeError, match="only 'opponent' of all boards can be set"):
        ConnectFourVecEnv(2).env_method("set_opponent", rightmost, indices=0)


def test_pictures_are_those_of_single_environments():
    options = {"opponent": "greedy", "seat": 0, "render_mode": "rgb_array", "screen_scaling": 2}
    ours = ConnectFourVecEnv(2, **options)
    theirs = DummyVecEnv([lambda: ConnectFourEnv(**options)] * 2)
    for envs in (ours, theirs):
        envs.reset()
    assert ours.metadata["render_fps"] == ConnectFourEnv.metadata["render_fps"]
    assert (ours.render() == theirs.render()).all()
    assert ConnectFourVecEnv(2).get_images() == [None, None]
    with pytest.raises(InvalidOption, match=r"render_mode='ansi': expected None or .*rgb_array"):
        ConnectFourVecEnv(2, render_mode="ansi")
