"""Our agents in TextArena's Connect Four: its boards read, and whole games in the real package."""

from __future__ import annotations

import random
import warnings

import pytest

from c4env import agents
from c4env.agents.adapters.textarena import TextArenaAgent, board_of
from c4env.agents.base import NoMove
from c4env.agents.errors import UnknownAgent
from c4env.errors import InvalidObservation
from c4env.position import Position

DRAWN = """[GAME] Board state:
0 1 2 3 4 5 6
-------------
. . . . . . .
. . . . . . .
. . . . . . .
. . . . . . .
. . . O . . .
. . . X . . .
"""


def test_the_last_board_is_read():
    assert board_of(DRAWN) == Position.parse("44")
    later = DRAWN.replace(". . . X", "X . . X")
    assert board_of(DRAWN + "[Player 0] [col 0]\n" + later) == Position.parse("441")
    assert board_of([(-1, "You are Player 0", 1), (-1, DRAWN, 5)]) == Position.parse("44")
    assert TextArenaAgent("perfect")(DRAWN) == "[col 3]"


@pytest.mark.parametrize(
    "text", ["", "The game board is not visible to players.", DRAWN.replace(" .\n", "\n"), [],
             DRAWN.replace("X", "."), DRAWN.replace("O", "X")],
)  # fmt: skip
def test_what_shows_no_board_is_refused(text):
    with pytest.raises(InvalidObservation):
        board_of(text)


def test_a_wrong_spec_and_a_game_that_is_over():
    with pytest.raises(UnknownAgent):
        TextArenaAgent("nobody")
    over = DRAWN.replace(". . . X . . .", "X X X X O O .")
    with pytest.raises(NoMove):
        TextArenaAgent("random")(over)


@pytest.mark.filterwarnings("ignore")  # the library warns of things of its own
@pytest.mark.parametrize("wrapped", [False, True], ids=["plain", "as text"])
def test_whole_games_in_the_real_package(wrapped):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ta = pytest.importorskip("textarena", reason="needs the package textarena")
        from textarena.envs.ConnectFour.env import ConnectFourEnv
    lots = random.Random(1)
    for seat in (0, 1):
        env = ConnectFourEnv()
        if wrapped:
            env = ta.wrappers.LLMObservationWrapper(env=env)
        env.reset(num_players=2, seed=4)
        ours, seen = TextArenaAgent("greedy", seed=2), {0: [], 1: []}
        position, done = Position(), False
        while not done:
            player, observation = env.get_observation()
            if not wrapped:  # only what is new
                seen[player] += observation
                observation = seen[player]
            assert board_of(observation) == position
            assert player == position.to_move
            if player == seat:
                action = ours(observation)
                assert action == f"[col {agents.make('greedy').choose(position)}]"
            else:
                action = f"[col {lots.choice(position.legal_columns())}]"
            position = position.play(int(action[5]))
            done, _ = env.step(action)
        rewards, _ = env.close()
        assert position.outcome is not None
        assert position.outcome.winner == max(rewards, key=rewards.get)
