"""A verifiers environment: games in words against an opponent, each move rewarded by exact play.

PYTHONPATH=docs/examples vf-eval verifiers_env -n 4 -r 1 --no-push -m MODEL --client.base-url URL

URL is any endpoint of chat completions, such as http://127.0.0.1:8000/v1. Needs verifiers (pip
install verifiers) and uv, with which verifiers starts its chat. With a server that always names the
lowest free column it took 19 seconds and printed, among others:

    rewards   keeps 0.95
    metrics   result -1.00  ·  unfinished 0.00
"""

import itertools

import numpy as np
import verifiers.v1 as vf

from c4env.envs.text import TextEnv

__all__ = ["ConnectFour", "Games"]  # verifiers looks for its classes here


class GamesConfig(vf.TasksetConfig):
    """The options of the games."""

    opponent: str = "greedy"
    kind: str = "board+legal"  # of the prompts


class GameData(vf.TaskData):
    """A game: who begins, and what the opponent draws, follow from the seed."""

    seed: int


class Game(vf.Task[GameData, vf.State, vf.TaskConfig]):
    """A game to play; :class:`ConnectFour` rewards it."""


def begin(config, seed):
    """Return a new game and its first prompt. A reward is what c4env.agents.rewards.keeps gives."""
    env = TextEnv(config.opponent, kind=config.kind, reward="exact")
    return env, env.reset(seed=seed)[0]


class Games(vf.Taskset[Game, GamesConfig]):
    """One game for each seed from 0 on, without end."""

    INFINITE = True

    def load(self):
        """Yield the games."""
        for seed in itertools.count():
            _, prompt = begin(self.config, seed)
            yield Game(GameData(name=f"game {seed}", prompt=prompt, seed=seed), self.config.task)


class ConnectFourConfig(vf.EnvConfig):
    """The learner, a chat without tools."""

    player: vf.AgentConfig = vf.AgentConfig(harness={"id": "null"}, runtime={"type": "subprocess"})


class ConnectFour(vf.Env[ConnectFourConfig]):
    """The reward of a game is the mean of its moves' rewards; its result is a metric.

    A game that a limit of turns or tokens cut has no result, and the metric ``unfinished`` is 1.
    Without any answer it has no reward either.
    """

    async def run(self, task, agents):
        """Play a game."""
        env, _ = begin(self.config.taskset, task.data.seed)
        gained, over = [], False
        async with agents.player.interaction(task) as game:
            said = await game.turn()  # the answer to the task's prompt
            while not said.terminated:
                text, reward, over, _, info = env.step(said.last_reply)
                gained.append(reward)
                if over:
                    result = {info["seat"]: 1.0, 1 - info["seat"]: -1.0}.get(info["winner"], 0.0)
                    game.trace.record_metric("result", result)
                    break
                said = await game.turn(text)
        if gained:
            game.trace.record_reward("keeps", float(np.mean(gained)))
        game.trace.record_metric("unfinished", float(not over))
