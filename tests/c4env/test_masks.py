"""The mask of legal columns of one board and of many: no row of zeros.

PettingZoo's, of zeros, is in test_aec; all others are compared with these where they are tested.
"""

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import c4env
from c4env import ConnectFourEnv, MaskInObservation

NAME = "c4env/ConnectFour-v0"


FORMS = {  # an environment, and where its mask is
    "info": (ConnectFourEnv, lambda game, seen, info: info["action_mask"]),
    "action_masks": (ConnectFourEnv, lambda game, *_: game.action_masks()),
    "observation": (
        lambda: MaskInObservation(ConnectFourEnv()),
        lambda game, seen, _: seen["action_mask"],
    ),
}


@pytest.mark.parametrize(("make", "read"), FORMS.values(), ids=FORMS)
def test_a_game_that_is_over_has_a_mask_of_ones(make, read):
    """tests/c4env/test_vector.py has many boards."""
    game, choose, ended = make(), np.random.default_rng(2), 0
    seen, info = game.reset()
    for _ in range(200):
        mask = read(game, seen, info)
        assert mask.any()
        may = mask + (choose.random() < 0.03)  # perhaps a full column
        seen, _, over, _, info = game.step(int((choose.random(7) * may).argmax()))
        if over:
            assert read(game, seen, info).all()
            ended += 1
            seen, info = game.reset()
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
