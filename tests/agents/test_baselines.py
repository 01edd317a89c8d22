import numpy as np
import pytest

from c4env import Position
from c4env.agents.baselines import Greedy, Random
from c4env.agents.heuristics.names import HEURISTICS
from tests.rules import reference


def centre_first(columns):
    return sorted(columns, key=lambda column: (abs(column - 3), column))


def greedy_by_hand(moves, heuristic):
    """Wins, else blocks, else takes the best next board; nearest the centre first."""
    board, me = reference.board_after(moves), len(moves) % 2
    columns = centre_first(reference.open_columns(board))
    for player in (me, 1 - me):
        if wins := reference.winning_columns(board, player):
            return centre_first(wins)[0]
    values = []
    for column in columns:
        reference.play(board, column, me)
        values.append(reference.HEURISTICS[heuristic](board, me))
        reference.take_back(board, column)
    return columns[values.index(max(values))]


@pytest.mark.parametrize("heuristic", HEURISTICS)
def test_greedy_wins_blocks_or_takes_the_best_next_board(heuristic):
    agent = Greedy(heuristic)
    for moves in reference.random_games(seed=90, count=80):
        assert agent.choose(Position.parse(moves)) == greedy_by_hand(moves, heuristic), moves


def test_random_plays_every_column_about_as_often():
    agent = Random()
    agent.reset(seed=3)
    position = Position.parse("444444")
    drawn = [agent.choose(position) for _ in range(6000)]
    counts = np.bincount(drawn, minlength=7)
    assert counts[3] == 0
    others = np.delete(counts, 3)
    assert np.abs(others - 1000).max() < 150  # five standard deviations
