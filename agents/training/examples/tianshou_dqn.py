"""DQN of Tianshou with action masks, against a random opponent.

``python -m c4env.agents.training.examples.tianshou_dqn model.pt``
"""

from __future__ import annotations

import sys
from pathlib import Path

from c4env.agents.training.command_line import needs, run
from c4env.envs.masked import MaskInObservation
from c4env.envs.single import ConnectFourEnv

with needs("tianshou", __name__):
    import torch
    from tianshou.algorithm.modelfree.dqn import DQN, DiscreteQLearningPolicy
    from tianshou.algorithm.optim import AdamOptimizerFactory
    from tianshou.data import Collector, VectorReplayBuffer
    from tianshou.env import DummyVectorEnv
    from tianshou.trainer import OffPolicyTrainerParams
    from tianshou.utils.net.common import Net


def environment() -> MaskInObservation:
    """Make an environment whose observations have the keys that Tianshou reads."""
    return MaskInObservation(ConnectFourEnv(dtype="float32"), keys=("obs", "mask"))


def train(out: str | Path, steps: int = 50_000, seed: int = 1, *, boards: int = 10) -> float:
    """Train for ``steps`` steps and write the network's weights.

    Returns:
        the greater of two mean returns: of 20 test games before the training, and of 20 after it.
    """
    torch.manual_seed(seed)
    envs, test_envs = (DummyVectorEnv([environment] * boards) for _ in range(2))
    envs.seed(seed)
    test_envs.seed(seed + boards)
    policy = DiscreteQLearningPolicy(
        model=Net(state_shape=(84,), action_shape=7, hidden_sizes=[256, 256]),
        action_space=environment().action_space,
        eps_training=0.1,
    )
    algorithm = DQN(
        policy=policy,
        optim=AdamOptimizerFactory(lr=5e-4),
        target_update_freq=500,
        n_step_return_horizon=3,
    )
    result = algorithm.run_training(
        OffPolicyTrainerParams(
            training_collector=Collector(algorithm, envs, VectorReplayBuffer(20_000, boards)),
            test_collector=Collector(algorithm, test_envs),
            max_epochs=1,
            epoch_num_steps=steps,
            collection_step_num_env_steps=10 * boards,
            test_step_num_episodes=20,
            update_step_num_gradient_steps_per_sample=0.1,
            verbose=False,
            show_progress=False,
        )
    )
    torch.save(policy.model.state_dict(), out)
    return float(result.best_reward)


if __name__ == "__main__":
    sys.exit(run(train, __doc__, "mean return against random, in the better of two tests"))
