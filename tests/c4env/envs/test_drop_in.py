"""What programs written for PettingZoo's connect four reach into, in the forms they use."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from pettingzoo.utils import BaseWrapper

import c4env as connect_four_v3
from c4env import Position
from c4env.errors import InvalidPosition

BOTH = pytest.mark.parametrize("make", [connect_four_v3.env, connect_four_v3.raw_env])


def cells_of(moves: str) -> list[int]:
    environment = connect_four_v3.env()
    environment.reset()
    for digit in moves:
        environment.step(int(digit) - 1)
    return list(environment.board)


@BOTH
def test_a_cell_that_is_set_is_set_in_the_game(make: Any) -> None:
    environment = make()
    environment.reset()
    environment.unwrapped.board[38] = 1
    assert environment.position == Position.parse("4")
    assert environment.agent_selection == "player_1"
    board = environment.board
    board[31] = np.int8(2)
    environment.step(3)
    assert environment.position == Position.parse("444")
    assert board[24] == 0, "a copy: it does not follow the game"
    board[17] = 2  # but sets a cell in the game as it stands
    assert environment.position == Position.parse("4444")
    assert board == environment.board


@BOTH
@pytest.mark.parametrize(
    "change",
    [
        lambda board: board.__setitem__(0, 1),  # in the air
        lambda board: board.__setitem__(38, 2),  # out of turn
        lambda board: board.__setitem__(38, 3),
        lambda board: board.__setitem__(38, "x"),
        lambda board: board.__setitem__(slice(0, 2), []),
        lambda board: board.append(1),
        lambda board: board.pop(),
        lambda board: board.sort(),
        lambda board: board.clear(),
        lambda board: board.__iadd__([1]),
    ],
)
def test_a_cell_that_cannot_be_set_is_refused(make: Any, change: Any) -> None:
    environment = make()
    environment.reset()
    board = environment.board
    with pytest.raises(InvalidPosition):
        change(board)
    assert environment.board == board == [0] * 42
    assert environment.agent_selection == "player_0"


@BOTH
@pytest.mark.parametrize("moves", ["", "4", "44", "725557317577", "4455667"])
@pytest.mark.parametrize("kind", [list, tuple, np.array, lambda b: np.array(b, float), copy.copy])
def test_a_whole_board_can_be_set(make: Any, moves: str, kind: Any) -> None:
    environment = make()
    environment.reset()
    environment.unwrapped.board = kind(cells_of(moves))
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
def test_a_game_copied_attribute_by_attribute(moves: str, reset_first: bool) -> None:
    first = connect_four_v3.env()
    first.reset()
    for digit in moves:
        first.step(int(digit) - 1)
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


def test_the_layers_of_pettingzoo_are_one_game() -> None:
    environment = connect_four_v3.env()
    environment.reset()
    inner = environment.env.env.env
    assert type(inner) == type(environment.unwrapped) == connect_four_v3.raw_env  # noqa: E721
    assert inner is environment.unwrapped
    assert not hasattr(inner, "env")
    depth, layer = 0, environment
    while hasattr(layer, "env"):  # as many programs unwrap
        layer, depth = layer.env, depth + 1
        layer.step(3)
    assert depth == 3
    assert environment.position == Position.parse("444")
    assert environment.env.env.board == environment.board == inner.board
    environment.env.agent_selection = "player_0"
    assert environment.agent_selection == "player_0"
    double = pickle.loads(pickle.dumps(copy.deepcopy(environment)))
    double.agent_selection = "player_1"
    double.unwrapped.step(0)
    assert double.position == Position.parse("4441") != environment.position
    assert BaseWrapper(environment).unwrapped is environment.unwrapped
