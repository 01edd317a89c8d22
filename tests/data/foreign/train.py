"""Train against opponents by name, then evaluate: nothing but c4env is imported to know them."""

import sys

import gymnasium
import numpy as np
from mine import agent

import c4env
from c4env import evaluation as rating
from evaluation import MINE


def train(steps: int) -> np.ndarray:
    """Weights float64 [84, 7] of a linear policy, fitted to what won against alphabeta."""
    env = gymnasium.make("c4env/ConnectFour-v0", opponent="alphabeta:depth=2", dtype="float32")
    chance, weights, seen = np.random.default_rng(0), np.zeros((84, 7)), []
    observation, info = env.reset(seed=0)
    for _ in range(steps):
        logits = observation @ weights + chance.gumbel(size=7)
        action = int(np.where(info["action_mask"], logits, -np.inf).argmax())
        seen.append((observation, action))
        observation, reward, ended, _, info = env.step(action)
        if ended:
            for planes, column in seen:
                weights[:, column] += 0.01 * float(reward) * planes
            seen, (observation, info) = [], env.reset()
    return weights


def main() -> None:
    weights = train(400)
    envs = c4env.ConnectFourVectorEnv(64, opponent="greedy")
    envs.reset(seed=1)
    envs.step(np.full(64, 3))

    def learned(observation):
        logits = observation["observation"].reshape(84) @ weights
        return int(np.where(observation["action_mask"], logits, -np.inf).argmax())

    field = {MINE: agent, "learned-here": learned, "greedy": "greedy"}
    digests = set()
    for where in sys.argv[1:]:  # a number of jobs, or a backend
        how = {"jobs": int(where)} if where.isdigit() else {"jobs": 2, "backend": where}
        run = rating.round_robin(field, openings=1, seed=1, **how)
        assert all(game.forfeited_by is None for game in run.games)
        print(where, run.digest)
        digests.add(run.digest)
    assert len(digests) == 1


if __name__ == "__main__":
    main()
