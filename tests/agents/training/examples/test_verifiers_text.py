"""The environment for verifiers, by the library itself: games against a model of the tests' own."""

from __future__ import annotations

import asyncio
import warnings

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the library's own
    vf = pytest.importorskip(
        "verifiers", reason="needs the extra verifiers: pip install 'c4env[verifiers]'"
    )
    if not hasattr(vf, "MultiTurnEnv"):
        pytest.skip("this version of verifiers has no MultiTurnEnv", allow_module_level=True)

from c4env.agents.errors import InvalidValue, UnknownAgent
from c4env.envs.text import fill, template
from c4env.position import Position
from tests.helpers.chat import chatting
from tests.helpers.judged import judged

# The solver needs its speed; the library warns of things of its own.
pytestmark = [pytest.mark.compiled, pytest.mark.filterwarnings("ignore")]
NAME = "c4env.agents.training.examples.verifiers_text"


def play(environment, server, monkeypatch, **options):
    monkeypatch.setenv("KEY_OF_TESTS", "none")
    client = vf.ClientConfig(api_key_var="KEY_OF_TESTS", api_base_url=server.url)
    done = asyncio.run(environment.evaluate(client=client, model="tiny", **options))
    return done["outputs"]


def test_it_is_loaded_by_name_with_the_same_games_for_a_seed():
    first, again = (vf.load_environment(NAME, games=20, plies=6, seed=3) for _ in range(2))
    rows = [environment.get_dataset() for environment in (first, again)]
    assert rows[0]["info"] == rows[1]["info"]
    starts = [info["moves"] for info in rows[0]["info"]]
    assert {len(start) for start in starts} == set(range(7))
    for row in rows[0]:
        position = Position.parse(row["info"]["moves"])
        (message,) = row["prompt"]
        text = fill(template("board+legal"), position, row["info"]["moves"])
        assert message["content"] == text
    other = vf.load_environment(NAME, games=20, plies=6, seed=4).get_dataset()
    assert other["info"] != rows[0]["info"]


def test_bad_arguments_are_refused():
    from c4env.agents.training.examples.verifiers_text import load_environment

    with pytest.raises(InvalidValue, match="games=0"):
        load_environment(games=0)
    with pytest.raises(UnknownAgent):
        load_environment(opponent="nobody")


def test_exact_play_is_the_judge(monkeypatch):
    """The model plays the lowest legal column; its rewards are those found here by hand."""
    environment = vf.load_environment(NAME, games=4, plies=6, opponent="greedy", seed=1)
    with chatting() as server:
        outputs = play(environment, server, monkeypatch, num_examples=4)
    assert len(outputs) == 4
    for output in outputs:
        reward, kept = judged(output["info"]["moves"])
        assert output["metrics"]["_outcome"] == reward
        assert output["metrics"]["_kept"] == pytest.approx(sum(kept) / len(kept))
        assert output["reward"] == pytest.approx(reward + sum(kept) / len(kept))
        assert "The game is over." in str(output["completion"])


def test_an_answer_without_a_move_loses(monkeypatch):
    environment = vf.load_environment(NAME, games=2, plies=0, outcome=2.0, kept=0.0)
    with chatting() as server:
        server.answer = lambda body: "I like the centre."
        outputs = play(environment, server, monkeypatch, num_examples=2)
        assert len(server.asked) == 2
    assert [output["reward"] for output in outputs] == [-2.0, -2.0]
