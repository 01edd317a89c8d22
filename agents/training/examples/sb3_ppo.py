"""MaskablePPO of sb3-contrib against several agents.

Run ``python -m c4env.agents.training.examples.sb3_ppo model.zip``, then
``c4 run sb3:model.zip random greedy``.
"""

from __future__ import annotations

import sys
from pathlib import Path

from c4env.agents.pool import Pool
from c4env.agents.training.command_line import needs, run

with needs("sb3", __name__):
    from sb3_contrib import MaskablePPO
    from torch import nn

    from c4env.envs.stable_baselines import ConnectFourVecEnv


def train(out: str | Path, steps: int = 2_500_000, seed: int = 1, *, boards: int = 256) -> None:
    """Train for ``steps`` steps, counted over all boards, and write the model, a ``.zip`` file.

    The opponent changes at every move. A single good opponent would always play the same game, and
    the model would not learn to play other games.
    """
    zoo = Pool({"greedy": 5, "random": 3, "alphabeta:depth=2": 2}, seed, per="move")
    model = MaskablePPO(
        "MlpPolicy",
        ConnectFourVecEnv(boards, zoo, dtype="float32"),
        n_steps=32,
        batch_size=8 * boards,
        n_epochs=4,
        learning_rate=lambda left: 1e-3 * left,  # down to 0
        ent_coef=0.01,
        policy_kwargs={"net_arch": [256, 256], "activation_fn": nn.ReLU},
        seed=seed,
        device="cpu",
    )
    model.learn(steps)
    model.save(out)


if __name__ == "__main__":
    sys.exit(run(train, __doc__))
