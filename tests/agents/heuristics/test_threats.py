from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from c4env import Position
from c4env.agents.heuristics import threats
from c4env.agents.heuristics.threats import SIZE, evaluate
from c4env.agents.heuristics.weights import WEIGHTS
from tests.helpers.strategies import bits_of, board_of, positions, stacks


def unit(*indices: int) -> np.ndarray:
    """Weights of 1 at these places."""
    weights = np.zeros(SIZE)
    weights[list(indices)] = 1
    weights.flags.writeable = False
    return weights


def value(moves: str, weights: np.ndarray) -> float:
    position = Position.parse(moves)
    return evaluate(position.mine, position.theirs, weights)


@given(stacks)
def test_one_sides_gain_is_the_others_loss(columns: list[list[int]]) -> None:
    board = board_of(columns)
    mine, theirs = bits_of(board, 0), bits_of(board, 1)
    assert evaluate(mine, theirs, WEIGHTS) == -evaluate(theirs, mine, WEIGHTS)


@given(positions(finished=False))
def test_the_value_is_linear_in_the_weights(position: Position) -> None:
    parts = [evaluate(position.mine, position.theirs, unit(i)) for i in range(SIZE)]
    assert np.dot(parts, WEIGHTS) == evaluate(position.mine, position.theirs, WEIGHTS)


def test_a_threat_counts_by_its_row_and_by_who_moved_first() -> None:
    # Player 0 has three in the third row; nobody has a disc in the column of the fourth.
    columns: list[list[int]] = [[1, 0, 0], [0, 1, 0], [1, 1, 0], [], [], [], []]
    board = board_of(columns)
    first, second = bits_of(board, 0), bits_of(board, 1)  # five discs and four
    places = {i for i in range(threats.READY) if evaluate(first, second, unit(threats.THREATS + i))}
    assert places == {1 * threats.ROWS + 2}
    assert evaluate(first, second, unit(1 * threats.ROWS + 2)) == 1
    columns[6] = [1, 1]  # now the other side has more discs: it moved first
    board = board_of(columns)
    assert evaluate(bits_of(board, 0), bits_of(board, 1), unit(2 * threats.ROWS + 2)) == 1


@pytest.mark.parametrize(
    ("moves", "index", "expected"),
    [
        ("112233", threats.READY + 0, 1),  # three on the bottom row, the fourth can be played
        ("1122334", threats.READY + 0, 0),  # it has been played: no winning cell is left there
        ("4", threats.COLUMN_VALUES + 3, -1),
        ("4", threats.ROW_VALUES, -1),
        ("4", threats.FIRST, -1),
        ("44", threats.FIRST, 0),
        ("4", threats.SINGLES, -(4 + 1 + 1)),  # level, and one diagonal each way
        ("4151", threats.PAIRS, 3),  # 4 and 5: windows 2-5, 3-6 and 4-7
    ],
)
def test_small_boards_by_hand(moves: str, index: int, expected: float) -> None:
    assert value(moves, unit(index)) == expected
