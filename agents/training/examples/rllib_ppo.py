"""PPO of RLlib with action masks, against a random opponent.

Run ``python -m c4env.agents.training.examples.rllib_ppo FOLDER`` in a separate virtual environment:
RLlib needs an older gymnasium than the other libraries.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from c4env.agents.training.command_line import needs, run
from c4env.envs.masked import MaskInObservation
from c4env.envs.single import ConnectFourEnv

with needs("rllib", __name__):
    import ray
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
    from ray.tune.registry import register_env

NAME = "c4env/masked"


def environment(settings: Any = None) -> MaskInObservation:
    """Make an environment whose observations hold the action mask as RLlib's module expects."""
    board = ConnectFourEnv(dtype="float32")
    return MaskInObservation(board, ("observations", "action_mask"), mask_dtype="float32")


def train(folder: str | Path, steps: int = 50_000, seed: int = 1, *, each: int = 2000) -> float:
    """Train for ``steps`` steps, write a checkpoint, and return the latest games' mean return."""
    Path(folder).mkdir(parents=True, exist_ok=True)  # report an error now, not at the end
    register_env(NAME, environment)
    config = (
        PPOConfig()
        .environment(NAME)
        .env_runners(num_env_runners=0)  # 0: within this process
        .training(train_batch_size_per_learner=each, minibatch_size=each // 4, num_epochs=4)
        .rl_module(
            rl_module_spec=RLModuleSpec(
                module_class=ActionMaskingTorchRLModule,
                model_config={"head_fcnet_hiddens": [256, 256], "head_fcnet_activation": "relu"},
            )
        )
        .debugging(seed=seed)
    )
    algorithm = config.build_algo()
    mean = float("nan")
    for _ in range(max(1, steps // each)):
        mean = float(algorithm.train()["env_runners"]["episode_return_mean"])
    algorithm.save_to_path(str(Path(folder).resolve()))
    algorithm.stop()
    ray.shutdown()
    return mean


if __name__ == "__main__":
    sys.exit(run(train, __doc__, "mean return against random, in training"))
