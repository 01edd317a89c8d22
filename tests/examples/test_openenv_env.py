"""The OpenEnv environment: its rewards are exact, and a server serves its games."""

import pytest

from c4env.envs.text import TextEnv
from tests.helpers.examples import example

pytest.importorskip("openenv.core", reason="needs OpenEnv: pip install openenv-core")
pytestmark = pytest.mark.filterwarnings("ignore")  # of the libraries that OpenEnv imports


def test_a_game_is_the_text_environments_with_exact_rewards():
    script = example("openenv_env")
    answers = ["Move: 4", "The edge.\nMove: 1", "Move: 2", "no move"]
    env, same = script.ConnectFour(), TextEnv("greedy", kind="board+legal", reward="exact")
    seen = env.reset(seed=3)
    assert seen.text == same.reset(seed=3)[0]
    rewards = []
    for answer in answers:
        seen = env.step(script.Move(text=answer))
        text, reward, over, _, _ = same.step(answer)
        assert (seen.text, seen.reward, seen.done) == (text, reward, over)
        assert env.rubric.last_score == reward
        rewards.append(reward)
        if over:
            break
    assert rewards[-1] == -1
    assert len({*rewards}) > 1
    assert (seen.done, seen.result) == (True, -1)
    assert env.state.step_count == len(rewards)


def test_a_server_plays_as_many_games_as_it_says():
    testing = pytest.importorskip("fastapi.testclient")
    with (
        testing.TestClient(example("openenv_env").app(2)) as client,
        client.websocket_connect("/ws") as socket,
        client.websocket_connect("/ws") as other,
    ):
        other.send_json({"type": "reset", "data": {"seed": 1}})
        assert "This is Connect Four" in other.receive_json()["data"]["observation"]["text"]
        socket.send_json({"type": "reset", "data": {"seed": 3}})
        assert "This is Connect Four" in socket.receive_json()["data"]["observation"]["text"]
        socket.send_json({"type": "step", "data": {"text": "nothing"}})
        told = socket.receive_json()["data"]
        assert (told["reward"], told["done"]) == (-1, True)
        assert "You lost." in told["observation"]["text"]
        other.send_json({"type": "step", "data": {"text": "Move: 4"}})
        assert other.receive_json()["data"]["reward"] == 1
