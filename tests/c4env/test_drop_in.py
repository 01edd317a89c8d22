"""What programs written for PettingZoo's connect four reach into, in the forms they use."""

import copy
import inspect
import pickle

import pytest
from pettingzoo.utils import BaseWrapper

import c4env as connect_four_v3
from c4env import Position
from tests.helpers.environments import begun

BOTH = pytest.mark.parametrize("make", [connect_four_v3.env, connect_four_v3.raw_env])


@BOTH
def test_the_board_is_a_list_of_cells_to_read(make):
    environment = begun(make, "44")
    board = environment.board
    assert board == [0] * 31 + [2] + [0] * 6 + [1] + [0] * 3
    board[38] = 0  # a list of the caller's own
    assert environment.board[38] == 1
    with pytest.raises(AttributeError):
        environment.board = board
    assert environment.position == Position.parse("44")


@BOTH
def test_columns_are_legal_until_they_are_full_even_after_the_end(make):
    for moves in ("444444", "44444412121"):
        assert begun(make, moves).unwrapped._legal_moves() == [0, 1, 2, 4, 5, 6]


def test_the_environment_is_one_object():
    environment = begun(connect_four_v3.env)
    assert environment.unwrapped is environment
    assert not hasattr(environment, "env")
    double = pickle.loads(pickle.dumps(copy.deepcopy(environment)))
    double.step(0)
    assert double.position == Position.parse("1") != environment.position
    assert BaseWrapper(environment).unwrapped is environment


@BOTH
def test_a_shallow_copy_plays_a_game_of_its_own(make):
    environment = begun(make, "112233")
    before = copy.deepcopy(vars(environment))
    double = copy.copy(environment)
    for action in (3, None, None):  # it wins, and its agents leave
        double.step(action)
    assert not double.agents
    for name in ("agents", "rewards", "_cumulative_rewards", "terminations", "truncations"):
        assert vars(environment)[name] == before[name], name
    assert environment.last()[1:4] == (0, False, False)
    environment.step(3)
    assert environment.last()[1:4] == (-1, True, False)


def test_the_docstring_of_the_module_is_the_rules():
    """Tutorials on language models read it so; PettingZoo's has the same."""
    text = inspect.getmodule(connect_four_v3.env().unwrapped).__doc__.lower()
    for words in ("four discs in a row", "0 to 6", "action_mask", "plane 0", "+1 for the winner"):
        assert words in text


def test_a_loop_without_a_step_is_an_error():
    environment = begun(connect_four_v3.env)
    turns = iter(environment.agent_iter())
    next(turns)
    with pytest.raises(AssertionError, match=r"need to call step\(\) or reset\(\)"):
        next(turns)


def test_a_method_can_be_replaced():
    environment, played = begun(connect_four_v3.env, "4"), []
    environment.step = played.append
    environment.step(4)
    assert played == [4]
    assert environment.position == Position.parse("4")
