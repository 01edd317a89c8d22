"""What programs written for PettingZoo's connect four reach into, in the forms they use."""

import copy
import inspect
import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest
from pettingzoo.utils import BaseWrapper

import c4env as connect_four_v3
from c4env import Position
from c4env.errors import InvalidPosition
from tests.helpers.environments import begun, seen
from tests.helpers.paths import ROOT

BOTH = pytest.mark.parametrize("make", [connect_four_v3.env, connect_four_v3.raw_env])


@BOTH
def test_the_list_of_cells_is_the_board_of_the_game(make):
    environment = begun(make)
    environment.unwrapped.board[38] = 1
    assert environment.agent_selection == "player_1"
    assert environment.position == Position.parse("4")
    board = environment.board
    board[31] = np.int8(2)
    environment.step(3)
    assert environment.position == Position.parse("444")
    assert board[24] == 1
    assert board is environment.board
    board[10], board[17] = 1, 2  # in the air for a moment
    assert environment.position == Position.parse("44444")
    environment.reset()
    assert environment.board == [0] * 42 != board


@BOTH
def test_a_move_can_be_taken_back_and_the_turn_passed_on(make):
    environment = begun(make, "44")
    game = environment.unwrapped
    game.board[31] = 0
    game.agent_selection = game._agent_selector.next()
    assert environment.agent_selection == "player_1"
    environment.step(3)
    assert environment.position == Position.parse("44")


@BOTH
def test_columns_are_legal_until_they_are_full_even_after_the_end(make):
    for moves in ("444444", "44444412121"):
        assert begun(make, moves).unwrapped._legal_moves() == [0, 1, 2, 4, 5, 6]


@BOTH
@pytest.mark.parametrize(
    ("index", "value"), [(0, 1), (38, 2), (38, 3), (38, "x"), (slice(0, 2), [])]
)
def test_a_board_that_no_game_reaches_is_refused_until_it_is_mended(make, index, value):
    environment = begun(make)
    board = environment.board
    board[index] = value
    with pytest.raises(InvalidPosition):
        environment.step(3)
    with pytest.raises(InvalidPosition):
        environment.unwrapped.board = list(board)
    board[:] = [0] * 42
    environment.step(3)
    assert environment.position == Position.parse("4")


@BOTH
@pytest.mark.parametrize("moves", ["", "4", "44", "725557317577", "4455667"])
@pytest.mark.parametrize("kind", [list, tuple, np.array, lambda b: np.array(b, float), copy.copy])
def test_a_whole_board_can_be_set(make, moves, kind):
    environment = begun(make)
    environment.unwrapped.board = kind(list(begun(connect_four_v3.env, moves).board))
    expected = Position.parse(moves)
    assert environment.position == expected
    assert environment.agent_selection == f"player_{expected.to_move}"
    over = expected.outcome is not None
    assert environment.terminations == {"player_0": over, "player_1": over}
    assert environment.rewards == {"player_0": 0, "player_1": 0}
    if not over:
        environment.step(0)
        assert environment.position == expected.play(0)


@pytest.mark.parametrize("moves", ["", "445", "4455667"])
@pytest.mark.parametrize("reset_first", [False, True])
def test_a_game_copied_attribute_by_attribute(moves, reset_first):
    first = begun(connect_four_v3.env, moves)
    source, double = first.unwrapped, connect_four_v3.raw_env()
    if reset_first:
        double.reset()
    double.agent_selection = source.agent_selection
    double.board = copy.deepcopy(source.board)
    for name in ("truncations", "terminations", "rewards", "_cumulative_rewards", "infos"):
        setattr(double, name, copy.deepcopy(getattr(source, name)))
    double.agents = list(source.agents)
    double._agent_selector = copy.deepcopy(source._agent_selector)
    assert str(double.last()) == str(source.last())
    assert double.position == source.position
    over = double.terminations["player_0"]
    double.step(None if over else 0)
    source.step(None if over else 0)
    assert str(double.last()) == str(source.last())
    assert double._agent_selector.next() == source._agent_selector.next()


def layers_of(environment):
    layers = [environment]
    while hasattr(layers[-1], "env"):  # as many programs unwrap
        layers.append(layers[-1].env)
    return layers


def test_the_layers_of_pettingzoo_are_one_game():
    environment = begun(connect_four_v3.env)
    *outer, inner = layers_of(environment)
    assert len(outer) == 3
    assert type(inner) == connect_four_v3.raw_env  # noqa: E721
    for layer in outer:
        layer.step(3)
        assert layer.unwrapped is inner
        assert layer.board is inner.board
    assert environment.position == Position.parse("444")
    double = pickle.loads(pickle.dumps(copy.deepcopy(environment)))
    double.step(0)
    assert double.position == Position.parse("4441") != environment.position
    assert BaseWrapper(environment).unwrapped is inner


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_what_is_set_on_a_layer_is_what_pettingzoo_sees_there(depth):
    theirs = pytest.importorskip("pettingzoo.classic.connect_four.connect_four")
    answers = []
    for module in (theirs, connect_four_v3):
        environment = begun(module.env, "4")
        layers_of(environment)[depth].terminations = {"player_0": True, "player_1": True}
        environment.step(None if depth == 3 else 3)
        answers.append([seen(environment), environment.last()[1:], environment.unwrapped.board])
    assert answers[0] == answers[1]


class Counting(BaseWrapper[str, Any, Any]):
    """A user's layer between those of the environment."""

    steps = 0

    def step(self, action):
        self.steps += 1
        self.env.step(action)


def test_a_layer_can_be_put_between_two_others():
    environment = begun(connect_four_v3.env)
    counting = Counting(environment.env.env)
    environment.env.env = counting
    environment.step(3)
    assert counting.steps == environment.steps == 1
    assert environment.last()[1:] == counting.last()[1:]
    assert environment.position == Position.parse("4")


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_method_of_any_layer_can_be_replaced(depth):
    environment = begun(connect_four_v3.env, "4")  # skips layers until a program asks for one
    layer, played = layers_of(environment)[depth], []
    layer.step = played.append
    environment.step(4)
    assert played == [4]
    assert environment.position == Position.parse("4")


def by_attributes(layer):
    double = object.__new__(type(layer))
    for name, value in vars(layer).items():
        if name != "env":
            setattr(double, name, copy.deepcopy(value))
    return double


def by_copy(layer):
    return copy.copy(layer) if hasattr(layer, "env") else copy.deepcopy(layer)


@pytest.mark.parametrize("duplicate", [by_attributes, by_copy])
@pytest.mark.parametrize("moves", ["", "445", "111111", "4455667"])
def test_a_game_copied_layer_by_layer_goes_its_own_way(duplicate, moves):
    first = begun(connect_four_v3.env, moves)
    *outer, inner = layers_of(first)
    double = duplicate(inner)
    for layer in reversed(outer):
        below, double = double, duplicate(layer)
        double.env = below
    before = seen(first)
    assert seen(double) == before
    action = None if first.position.outcome else 0  # of "111111" an illegal move
    double.step(action)
    assert seen(first) == before != seen(double)
    first.step(action)
    assert seen(double) == seen(first)
    assert double.unwrapped is not first.unwrapped


def names_of(layer):
    found = set(vars(layer))
    for kind in type(layer).__mro__:
        if kind.__module__.startswith("pettingzoo."):
            found |= {*vars(kind), *inspect.get_annotations(kind)}
    return {name for name in found if not name.startswith("__")}


def access(layer, name):
    """``rw`` if a program can read and set an attribute, ``r`` if only read, else ``-``."""
    try:
        value = getattr(layer, name)
    except AttributeError:
        return "-"
    try:
        setattr(copy.copy(layer), name, value)
    except AttributeError:
        return "r"
    return "rw"


def test_every_attribute_of_connect_four_v3_is_read_and_set_here():
    theirs = pytest.importorskip("pettingzoo.classic.connect_four.connect_four")
    chains = [
        layers_of(begun(partial(module.env, render_mode="rgb_array"), "4"))
        for module in (theirs, connect_four_v3)
    ]
    groups = {}
    for name in sorted(set().union(*map(names_of, chains[0]))):
        row = tuple(" ".join(access(layer, name) for layer in chain) for chain in chains)
        groups.setdefault(row, []).append(f"`{name}`")
    table = [f"| {', '.join(group)} | {a} | {b} |" for (a, b), group in groups.items()]
    text = (ROOT / "docs/guides/from-connect-four-v3.md").read_text("utf-8")
    assert [line for line in table if line not in text] == [], "\n".join(table)
