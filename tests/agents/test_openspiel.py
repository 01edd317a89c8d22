"""open_spiel: its bots in our games, and its rules beside ours."""

import pytest

from c4env import Position, agents
from c4env.agents.baselines import Random
from c4env.evaluation.games.game import play_game

pyspiel = pytest.importorskip("pyspiel", reason="the package open_spiel is not installed")
THREE = Position.parse("747576")  # the side to move has three on column 7


@pytest.mark.parametrize("bot", ["mcts,simulations=300", "minimax,depth=1"])
def test_a_bot_that_searches_takes_a_win(bot):
    agent = agents.make(f"open_spiel:{bot}")
    agent.reset(1)
    assert agent.choose(THREE) == 6


@pytest.mark.parametrize("bot", ["mcts,simulations=50", "uniform_random"])
def test_the_same_seed_plays_the_same_game(bot):
    def game(seed):
        players = (agents.make(f"open_spiel:{bot}"), agents.make("open_spiel:uniform_random"))
        return play_game(players, ("a", "b"), "", seed)

    assert game(1).moves == game(1).moves
    assert len({game(seed).moves for seed in range(4)}) > 1
    assert game(1).ending in ("four", "full board")


def test_its_rules_are_ours():
    """Legal columns, the end and the winner agree along random games."""
    lots = Random()
    for seed in range(20):
        lots.reset(seed)
        position = Position()
        state = pyspiel.load_game("connect_four").new_initial_state()
        while position.outcome is None:
            assert tuple(state.legal_actions()) == position.legal_columns()
            column = lots.choose(position)
            position = position.play(column)
            state.apply_action(column)
        assert state.is_terminal()
        expected = {0: [1.0, -1.0], 1: [-1.0, 1.0], None: [0.0, 0.0]}
        assert list(state.returns()) == expected[position.outcome.winner]
