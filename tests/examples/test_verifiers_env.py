"""The verifiers environment, with a model of the tests' own at the other end."""

import asyncio
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from c4env.envs.text import TextEnv
from tests.helpers.chat import chatting
from tests.helpers.examples import example

pytest.importorskip("verifiers.v1", reason="needs verifiers: pip install verifiers")
pytestmark = pytest.mark.filterwarnings("ignore")  # of verifiers' own

import openai  # noqa: E402  # verifiers brings them
import verifiers.v1 as vf  # noqa: E402
from verifiers.v1.dialects.chat import message_to_wire  # noqa: E402

__all__ = ["Asking"]  # where verifiers looks for a harness


class Asking(vf.Harness[vf.HarnessConfig]):
    """A chat in this process: verifiers' own starts a program that it downloads."""

    SUPPORTS_RESUME, EXECUTES_CODE, NEEDS_CONTAINER = True, False, False

    async def launch(self, ctx, trace, runtime, endpoint, secret, mcp_urls, data):
        """Ask for one answer."""
        _, prompt = self.resolve_prompt(data)
        messages = [{"role": "user", "content": prompt}]
        if not isinstance(prompt, str):
            messages = [message_to_wire(message) for message in prompt]
        async with openai.AsyncOpenAI(base_url=endpoint, api_key=secret) as client:
            await client.chat.completions.create(model=ctx.model, messages=messages)
        return vf.ProgramResult(0, "", "")


def test_games_are_rewarded_as_the_text_environment_rewards_them(monkeypatch):
    example("verifiers_env")
    monkeypatch.setitem(sys.modules, "asking", sys.modules[__name__])
    kind, runtime = {"id": "verifiers_env", "opponent": "random"}, {"type": "subprocess"}
    player = {"harness": {"id": "asking"}, "runtime": runtime}
    config = vf.env_config_type("verifiers_env")(taskset=kind, player=player)
    env = vf.load_environment(config)

    async def play(server):
        asked = vf.ModelContext("tiny", vf.EvalClientConfig(base_url=server.url))
        async with env.serving():
            return [await env.run_episode(task, asked) for task in env.taskset.take(3)]

    with chatting() as server:
        server.answer = lambda body: f"Move: {len(body['messages']) % 4 + 3}"
        episodes = asyncio.run(play(server))
    for seed, episode in enumerate(episodes):
        (trace,) = episode.traces
        assert episode.ok, episode.errors
        same, gained, over, told = (
            TextEnv("random", kind="board+legal", reward="exact"),
            [],
            False,
            1,
        )
        text, _ = same.reset(seed=seed)
        assert trace.task.data.prompt == text
        while not over:
            text, reward, over, _, info = same.step(f"Move: {told % 4 + 3}")
            gained.append(reward)
            told += 2
        assert trace.num_turns == len(gained)
        assert trace.reward == pytest.approx(np.mean(gained))
        outcome = 0 if info["winner"] == -1 else 1 if info["winner"] == info["seat"] else -1
        assert trace.metrics == {"result": outcome, "unfinished": 0}
    assert len({episode.traces[0].reward for episode in episodes}) > 1


@pytest.mark.parametrize("answers", [0, 1, 3])
def test_a_game_that_a_limit_cut_has_no_result(answers):
    kept, left = {}, iter(range(answers))

    class Chat:
        trace = SimpleNamespace(record_reward=kept.__setitem__, record_metric=kept.__setitem__)

        async def __aenter__(self):
            return self

        async def __aexit__(self, *error):
            """Nothing to do."""

        async def turn(self, text=None):
            cut = next(left, None) is None
            return SimpleNamespace(last_reply="Move: 4", terminated=cut)

    settings = SimpleNamespace(opponent="greedy", kind="board+legal")
    env = SimpleNamespace(config=SimpleNamespace(taskset=settings))
    agents = SimpleNamespace(player=SimpleNamespace(interaction=lambda task: Chat()))
    task = SimpleNamespace(data=SimpleNamespace(seed=0))
    asyncio.run(example("verifiers_env").ConnectFour.run(env, task, agents))
    assert kept.pop("keeps", None) == (1.0 if answers else None)
    assert kept == {"unfinished": 1.0}
