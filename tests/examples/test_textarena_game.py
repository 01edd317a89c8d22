"""A game in TextArena: its rules are ours, and its moves are rewarded by exact play."""

import numpy as np
import pytest

from c4env import Position
from c4env.agents import Solver
from tests.helpers.examples import example

pytest.importorskip("textarena", reason="needs TextArena: pip install textarena")
pytestmark = pytest.mark.filterwarnings("ignore")  # of TextArena's own


class Scripted:
    """Answers what it was given, and notes what it was shown."""

    def __init__(self, *answers):
        self.answers, self.seen = [*answers], []

    def __call__(self, observation):
        self.seen.append(example("textarena_game").position_in(observation))
        return self.answers.pop(0)


def test_an_agent_wins_a_game_and_perfect_moves_give_nothing_away():
    script = example("textarena_game")
    results, exact = script.play([script.Player("perfect"), script.Player("random", seed=3)])
    assert results == {0: 1, 1: -1}
    assert set(exact[0]) == {1.0}  # the first player wins with perfect play
    assert len(exact[0]) == len(exact[1]) + 1


def test_positions_and_rewards_are_those_of_the_game():
    first = Scripted("[col 2]", "I take [2]", "[2]", "[COL 2]")
    second = Scripted("[col 6]", "[col 6]", "[col 5]")
    results, exact = example("textarena_game").play([first, second])
    assert results == {0: 1, 1: -1}
    moves, solver = "3737363", Solver()
    expected = [[], []]
    for ply, digit in enumerate(moves):
        position, column = Position.parse(moves[:ply]), int(digit) - 1
        assert (first, second)[ply % 2].seen[ply // 2] == position
        scores = solver.scores(position)
        best = max(score for score in scores if score is not None)
        expected[ply % 2].append(float(np.sign(scores[column]) == np.sign(best)))
    assert exact == expected
    assert 0.0 in exact[0]
