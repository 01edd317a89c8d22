"""The environment for OpenEnv: a server in its own process, and clients of the library itself."""

from __future__ import annotations

import socket
import time
import urllib.request

import pytest

from tests.helpers.judged import reward
from tests.helpers.processes import start_python

openenv = pytest.importorskip(
    "openenv.core", reason="needs the extra openenv: pip install 'c4env[openenv]'"
)
# The solver needs its speed; the library warns of things of its own.
pytestmark = [pytest.mark.compiled, pytest.mark.filterwarnings("ignore")]
NAME = "c4env.agents.training.examples.openenv_server"


@pytest.fixture(scope="module")
def address():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    quiet = {"stdout": None, "stderr": None}
    server = start_python("-m", NAME, "--opponent", "greedy", "--port", port, **quiet)
    try:
        for _ in range(600):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5).close()
                break
            except OSError:
                assert server.poll() is None
                time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def client(address):
    return openenv.GenericEnvClient(address).sync()


def test_two_clients_play_games_of_their_own_with_exact_rewards(address):
    with client(address) as one, client(address) as two:
        games = {one: "4", two: "12"}
        turns = {player: player.reset(moves=moves) for player, moves in games.items()}
        assert "with the discs o" in turns[one].observation["text"]
        assert "with the discs x" in turns[two].observation["text"]
        steps = dict.fromkeys(games, 0)
        while unfinished := [player for player in games if not turns[player].done]:
            for player in unfinished:
                assert turns[player].reward == 0
                lowest = turns[player].observation["legal"][0]
                turns[player] = player.step({"column": lowest})
                steps[player] += 1
        for player, moves in games.items():
            assert turns[player].reward == pytest.approx(reward(moves))
            assert turns[player].observation["legal"] == []
            assert "The game is over." in turns[player].observation["text"]
            assert player.state()["step_count"] == steps[player]


def test_a_bad_column_is_answered_and_the_game_goes_on(address):
    with client(address) as player:
        player.reset(moves="444444", seed=1, episode_id="mine")
        assert player.state()["episode_id"] == "mine"
        for column in ("a", 8, True, None, 4.5):
            turn = player.step({"column": column})
            assert f"column={column!r}: expected an integer" in turn.observation["text"]
            assert (turn.reward, turn.done) == (0, False)
        turn = player.step({"column": 4})
        assert "column 4 is full. Choose another" in turn.observation["text"]
        assert turn.observation["legal"] == [1, 2, 3, 5, 6, 7]
        assert "Your opponent plays" in player.step({"column": 1}).observation["text"]


def test_calls_at_the_wrong_time_and_bad_starts_are_errors_that_say_so(address):
    with client(address) as player:
        with pytest.raises(RuntimeError, match="reset"):
            player.step({"column": 1})
        with pytest.raises(RuntimeError, match="'8' at 1 is not a column"):
            player.reset(moves="8")
        with pytest.raises(RuntimeError, match="VALIDATION_ERROR"):
            player.reset(moves="44") and player.step({"row": 1})
        turn = player.reset(moves="4")
        while not turn.done:
            turn = player.step({"column": turn.observation["legal"][0]})
        with pytest.raises(RuntimeError, match="The game is over"):
            player.step({"column": 1})


def test_the_schema_says_what_a_column_is():
    from c4env.agents.training.examples.openenv_server import Drop

    column = Drop.model_json_schema()["properties"]["column"]
    assert (column["type"], column["minimum"], column["maximum"]) == ("integer", 1, 7)
