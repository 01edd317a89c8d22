"""The mask of legal columns of one board and of many: no row of zeros.

PettingZoo's, of zeros, is in test_aec; all others are compared with these where they are tested.
"""

import warnings
from functools import partial

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import c4env
from c4env import ConnectFourEnv, ConnectFourVectorEnv, MaskInObservation

NAME, SIZE = "c4env/ConnectFour-v0", 12


def chosen(masks, choose):
    """A legal column for each row, and one in thirty times perhaps a full one."""
    masks = np.asarray(masks) + (choose.random((len(masks), 1)) < 0.03)
    return (choose.random(masks.shape) * masks).argmax(axis=1)


# Each function plays, and yields rows of masks: of games that go on, and of games that are over.


def one(make, read, choose):
    game, over = make(), True
    for _ in range(200):
        if over:
            seen, info = game.reset()
        mask, over = read(game, seen, info), False
        yield [mask], []
        seen, _, over, _, info = game.step(int(chosen([mask], choose)[0]))
        if over:
            yield [], [read(game, seen, info)]


def many(mode, choose):
    envs = ConnectFourVectorEnv(
        SIZE, opponent="greedy", action_mask="observation", autoreset_mode=mode
    )
    masks = envs.reset(seed=1)[0]["action_mask"]
    for _ in range(60):
        seen, _, over, _, info = envs.step(chosen(masks, choose))
        masks = seen["action_mask"].copy()
        if mode == "SameStep":
            yield masks, [info["final_obs"][i]["action_mask"] for i in np.flatnonzero(over)]
            continue
        yield masks[~over], masks[over]
        if mode == "Disabled" and over.any():
            seen, info = envs.reset(options={"reset_mask": over})
            masks[over] = seen["action_mask"][over]
            yield masks, []


FORMS = {
    "one, info": partial(one, ConnectFourEnv, lambda game, seen, info: info["action_mask"]),
    "one, action_masks": partial(one, ConnectFourEnv, lambda game, *_: game.action_masks()),
    "one, observation": partial(
        one, lambda: MaskInObservation(ConnectFourEnv()), lambda game, seen, _: seen["action_mask"]
    ),
    **{mode: partial(many, mode) for mode in ("NextStep", "SameStep", "Disabled")},
}


@pytest.mark.parametrize("form", FORMS)
def test_a_game_that_is_over_has_a_mask_of_ones(form):
    going = ended = 0
    for masks, finished in FORMS[form](choose=np.random.default_rng(2)):
        assert np.reshape(masks, (-1, 7)).any(axis=1).all()
        assert np.all(finished)
        going, ended = going + len(masks), ended + len(finished)
    assert going > 100
    assert ended > 5


def test_the_wrapper_puts_the_mask_where_a_library_reads_it():
    board = gymnasium.make(NAME, opponent="random", dtype="float32", seat=0)
    env = MaskInObservation(board, "obs", "mask", dtype=np.bool_)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is another environment than the one within
        check_env(env, skip_render_check=True)
    seen, _ = env.reset(seed=1, options={"moves": "444444"})
    assert env.observation_space.contains(seen)
    assert seen["mask"].tolist() == [True, True, True, False, True, True, True]
    assert seen["obs"].sum() == 6
    assert isinstance(gymnasium.make(env.spec), MaskInObservation)
    for given, words in (
        ({"dtype": "foo"}, "dtype='foo'"),
        ({"mask": "observation"}, "another key"),
    ):
        with pytest.raises(c4env.errors.InvalidOption, match=words):
            MaskInObservation(board, **given)
