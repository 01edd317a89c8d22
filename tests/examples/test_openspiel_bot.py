"""OpenSpiel's bots as agents."""

import pytest

from c4env import Position, evaluation
from tests.helpers.examples import EXAMPLES, example, require_whole_games

pyspiel = pytest.importorskip("pyspiel", reason="needs OpenSpiel: pip install open_spiel")

openspiel_bot = example("openspiel_bot")


@pytest.mark.parametrize("options", [("mcts", 300), ("minimax", 1, 1.4, 1)])
def test_a_bot_that_searches_takes_a_win(options):
    agent = openspiel_bot.Bot(*options)
    agent.reset(1)
    assert agent.choose(Position.parse("747576")) == 6


@pytest.mark.parametrize("options", [("mcts", 50), ("uniform_random",)])
def test_the_same_seed_plays_the_same_game(options):
    players = {"bot": openspiel_bot.Bot(*options), "random": "random"}

    def game(seed):
        return evaluation.round_robin(players, openings=0, seed=seed, jobs=1).games[0]

    assert game(1).moves == game(1).moves
    assert len({game(seed).moves for seed in range(4)}) > 1
    assert game(1).ending in ("four", "full board")


def test_a_run_plays_it_by_its_file():
    spec = f"{EXAMPLES / 'openspiel_bot.py'}:Bot:bot=minimax,depth=2"
    require_whole_games(spec)
